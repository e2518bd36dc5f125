import {
  Counter,
  Gauge,
  Histogram,
  type PrometheusContentType,
  Registry,
} from '@prometheus-io/client'
import { getOrInsert } from '../values/get-or-insert.ts'
import { type Family, type FamilyName, families, type GivenList } from './families.ts'
import type { Metrics } from './metrics.ts'

/** The values of the labels that only the composition root knows. Read at their first use. */
export type GivenLists = Readonly<Record<GivenList, () => readonly string[]>>

export type MetricsRegistry = Registry<PrometheusContentType>

/** Metrics that are kept, for `/metrics`. */
export type OpenMetrics = Metrics & {
  readonly registry: MetricsRegistry
  /** How many time series a family can have, however many customers and records there are. */
  seriesMax(family: FamilyName): number
}

/** What a label says in place of a value that is not declared. */
const OTHER = 'other'

type AnyLabels = Readonly<Record<string, string>>

type ReadGauge = () => readonly (readonly [labels: AnyLabels, value: number])[]

export function openMetrics(given: GivenLists): OpenMetrics {
  const registry: MetricsRegistry = new Registry()
  const { boundsOf, seriesMax } = openBounds(given)
  const counters = new Map<string, Counter<string>>()
  const histograms = new Map<string, Histogram<string>>()
  const readers = new Map<string, Set<ReadGauge>>()
  const bounds = new Map(familyNames.map((name) => [name, boundsOf(name)]))
  const boundedBy = (name: FamilyName, labels: AnyLabels) => bounds.get(name)?.(labels) ?? labels
  const configOf = (name: FamilyName) => {
    const { help, labels, merge }: Family = families[name]
    const labelNames = Object.keys(labels)
    return { name, help, labelNames, aggregator: merge, registers: [registry] }
  }
  const openGauge = (name: FamilyName): Set<ReadGauge> => {
    const reading = new Set<ReadGauge>()
    const gauge: Gauge<string> = new Gauge({
      ...configOf(name),
      collect: () => {
        gauge.reset()
        for (const read of reading) {
          for (const [labels, value] of read()) gauge.inc(boundedBy(name, labels), value)
        }
      },
    })
    return reading
  }
  for (const name of familyNames) {
    const { type, buckets }: Family = families[name]
    if (type === 'counter') counters.set(name, new Counter(configOf(name)))
    if (type === 'histogram') {
      histograms.set(name, new Histogram({ ...configOf(name), buckets: [...buckets] }))
    }
  }
  return {
    registry,
    seriesMax,
    count: (family, labels, more) => counters.get(family)?.inc(boundedBy(family, labels), more),
    observe: (family, labels, value) =>
      histograms.get(family)?.observe(boundedBy(family, labels), value),
    gauge: (family, read) => {
      // A gauge that nobody reads would be answered as 0.
      const reading = getOrInsert(readers, family, () => openGauge(family))
      reading.add(read)
      return () => void reading.delete(read)
    },
  }
}

const familyNames = Object.keys(families).filter((name): name is FamilyName => name in families)

/** Replaces the values of labels that were not declared. */
function openBounds(given: GivenLists) {
  const lists = new Map<GivenList, ReadonlySet<string>>()
  const listOf = (list: GivenList) =>
    getOrInsert(lists, list, () => new Set([...given[list](), OTHER]))
  const checkedOf = ({ labels }: Family) =>
    Object.entries(labels).flatMap(([label, values]) =>
      typeof values === 'string' ? [[label, values] as const] : [],
    )
  return {
    boundsOf: (name: FamilyName) => {
      // The compiler checks the other labels.
      const checked = checkedOf(families[name])
      return (labels: AnyLabels): AnyLabels => {
        let known = labels
        for (const [label, list] of checked) {
          if (!listOf(list).has(labels[label] ?? '')) known = { ...known, [label]: OTHER }
        }
        return known
      }
    },
    seriesMax: (name: FamilyName): number => {
      const { type, labels, buckets }: Family = families[name]
      const counts = Object.values(labels).map((values) =>
        typeof values === 'string' ? listOf(values).size : values.length,
      )
      // A histogram has a series for each bound, for the infinite one, the sum and the count.
      const each = type === 'histogram' ? buckets.length + 3 : 1
      return counts.reduce((product, count) => product * count, each)
    },
  }
}

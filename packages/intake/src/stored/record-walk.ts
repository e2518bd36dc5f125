import { type Background, type Logger, limitsOf, startWalk } from '@bursar/base'
import { resources } from '@bursar/contract'
import { type Store, StoreDamaged } from '@bursar/records'
import { type ComparedPart, compareKind, compareOwners } from './compare-kind.ts'
import {
  cannotReadOn,
  describeAll,
  describeDamaged,
  isUndecided,
  split,
} from './describe-faults.ts'

const limits = limitsOf({
  /** Differences that are logged. With more, `bursar reindex` is the answer. */
  walkReportedMax: 100,
})

type WalkDeps = {
  readonly damage: Store['damage']
  readonly log: Logger
  readonly background: Background
}

type Found = {
  readonly kind: string
  /** Records that are damaged, or differ from what is derived from them. */
  readonly count: number
  readonly lines: readonly string[]
  /** What a person has to decide. No request fails by it. */
  readonly undecided: readonly string[]
}

/**
 * Compares all records with what is derived from them, in the background. Logs each difference
 * once, and counts it until a round no longer finds it. Returns the function that ends this.
 */
export function startRecordWalk({ damage, log, background }: WalkDeps): () => Promise<void> {
  const rows = damage.walkedRows
  let told: ReadonlySet<string> = new Set()
  let found = new Set<string>()
  const report = (level: 'error' | 'warn', what: string) => {
    if (found.has(MORE)) return
    const line = found.size >= limits.walkReportedMax ? MORE : what
    found.add(line)
    if (!told.has(line)) log[level]({ what: line }, DIFFERS)
  }
  return startWalk<Found>(background, 'compare-records', {
    parts: (rowsMax) => [
      ...resources.map((resource) => () => {
        return readOn(resource.kind, compareKind(resource, rows, { rowsMax }))
      }),
      () => readOn('customers', compareOwners(rows, { rowsMax })),
    ],
    take: ({ kind, count, lines, undecided }) => {
      if (count > 0) damage.noteFound(kind, count)
      for (const line of lines) report('error', line)
      for (const line of undecided) report('warn', line)
    },
    endRound: (isWhole) => {
      damage.endWalk(isWhole)
      told = isWhole ? found : new Set([...told, ...found].slice(0, limits.walkReportedMax))
      found = new Set()
    },
    failed: (err) => log.warn({ err }, 'stored records cannot be compared'),
  })
}

/** A kind that cannot be read on is damaged. Another failure says nothing about what is stored. */
async function* readOn(kind: string, parts: AsyncIterable<ComparedPart>): AsyncIterable<Found> {
  try {
    for await (const { damaged, derived } of parts) {
      const [undecided, others] = split(derived, isUndecided)
      const names = [...damaged, ...others].map((one) => ('id' in one ? one.id : one.customerId))
      const lines = [...damaged.map(describeDamaged), ...describeAll(others)]
      yield { kind, count: new Set(names).size, lines, undecided: describeAll(undecided) }
    }
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error
    yield { kind, count: 1, lines: [cannotReadOn(kind, error)], undecided: [] }
  }
}

const DIFFERS =
  'a stored record differs from what is derived from it, or is damaged; `bursar reindex` says which can be written again'
const MORE = 'more records than are logged'

import { callUrl } from './harness.ts'

/** One time series with its value. */
export type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** What `/metrics` of the operator's port answers. */
export async function readMetrics(operatorUrl: string): Promise<MetricsText> {
  return parseMetrics((await callUrl(`${operatorUrl}/metrics`, {})).text)
}

export type MetricsText = {
  readonly text: string
  readonly samples: readonly Sample[]
  /** The names of the families that have a help text. */
  readonly families: readonly string[]
  /** The sum of the series with these labels, which may be a part of theirs. */
  sum(name: string, labels?: Sample['labels']): number
}

export function parseMetrics(text: string): MetricsText {
  const lines = text.split('\n')
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#')).map(readSample)
  return {
    text,
    samples,
    families: lines.flatMap((line) => /^# HELP (\S+)/.exec(line)?.[1] ?? []),
    sum: (name, labels = {}) =>
      samples
        .filter((sample) => sample.name === name && hasLabels(sample, labels))
        .reduce((total, { value }) => total + value, 0),
  }
}

const hasLabels = (sample: Sample, labels: Sample['labels']): boolean =>
  Object.entries(labels).every(([label, value]) => sample.labels[label] === value)

function readSample(line: string): Sample {
  const match = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line)
  if (match === null) throw new Error(`no sample: ${line}`)
  const [, name = '', list = '', value] = match
  const labels = [...list.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)]
  return {
    name,
    labels: Object.fromEntries(labels.map(([, label = '', text = '']) => [label, text])),
    value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
  }
}

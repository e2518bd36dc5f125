import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** One comparison of the report. `measure` runs once in each round. */
export type Row = {
  readonly name: string
  readonly reference: string
  /** The ratio to reach, or not to exceed where `atMost` is set. */
  readonly goal: number
  readonly atMost?: true
  readonly unit: string
  readonly rounds?: number
  measure(round: number): Promise<Measured>
}

export type Measured = { readonly ours: number; readonly theirs: number }

/** A row with the medians of its rounds, as the results keep it. */
export type Reported = Measured &
  Pick<Row, 'name' | 'reference' | 'unit' | 'goal'> & {
    readonly ratio: number
    readonly least: number
    readonly most: number
    readonly isShort: boolean
  }

const done: Reported[] = []

/** Measures a row in alternating rounds. Prints its median ratio, the spread and the goal. */
export async function report(row: Row, rounds: number): Promise<void> {
  const measured: Measured[] = []
  for (let round = 0; round < (row.rounds ?? rounds); round += 1) {
    measured.push(await row.measure(round))
  }
  reportMeasured(row, measured)
}

/** Prints what the rounds of a row measured. */
export function reportMeasured(
  row: Omit<Row, 'measure' | 'rounds'>,
  measured: readonly Measured[],
): void {
  const ratios = measured.map(({ ours, theirs }) => ours / theirs)
  const ratio = median(ratios)
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  const isShort = row.atMost ? ratio > row.goal : ratio < row.goal
  const [ours, theirs] = [
    median(measured.map((m) => m.ours)),
    median(measured.map((m) => m.theirs)),
  ]
  const { name, reference, goal, unit } = row
  done.push({ name, reference, unit, ours, theirs, ratio, least, most, goal, isShort })
  say(
    [
      name.padEnd(44),
      `${print(ours)} ${unit}`.padStart(14),
      `${print(theirs)} ${reference}`.padEnd(34),
      `${ratio.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`.padEnd(21),
      `goal ${goal}${isShort ? ', short' : ''}`,
    ].join('  '),
  )
}

/**
 * Writes what was measured to `bench/results/`, with machine, versions and date. A part of the rows
 * replaces those of an earlier run of the day, if one was written.
 */
export function writeResults(
  store: string,
  notes: Readonly<Record<string, unknown>>,
  isPart = false,
): void {
  const [cpu] = cpus()
  const date = new Date().toISOString().slice(0, 10)
  const machine = `${cpus().length} × ${cpu?.model}`
  const file = `bench/results/${date}-${store}.json`
  if (isPart && !existsSync(file)) return
  const earlier: Reported[] = isPart ? JSON.parse(readFileSync(file, 'utf8')).rows : []
  const rows = isPart
    ? earlier.map((row) => done.find(({ name }) => name === row.name) ?? row)
    : done
  const results = { date, machine, node: process.version, store, ...notes, rows }
  mkdirSync('bench/results', { recursive: true })
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

const print = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value < 10 ? 2 : 1)

import { mkdirSync, writeFileSync } from 'node:fs'
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

const done: object[] = []

/** Measures a row in alternating rounds. Prints its median ratio, the spread and the goal. */
export async function report(row: Row, rounds: number): Promise<void> {
  const measured: Measured[] = []
  for (let round = 0; round < (row.rounds ?? rounds); round += 1) {
    measured.push(await row.measure(round))
  }
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

/** Writes what was measured to `bench/results/`, with machine, versions and date. */
export function writeResults(store: string, notes: Readonly<Record<string, unknown>>): void {
  const [cpu] = cpus()
  const date = new Date().toISOString().slice(0, 10)
  const machine = `${cpus().length} × ${cpu?.model}`
  const results = { date, machine, node: process.version, store, ...notes, rows: done }
  mkdirSync('bench/results', { recursive: true })
  writeFileSync(`bench/results/${date}-${store}.json`, `${JSON.stringify(results, null, 2)}\n`)
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

const print = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value < 10 ? 2 : 1)

import { appendFileSync } from 'node:fs'
import type { TestContext } from 'node:test'

/** One measured figure. No run fails because of it: `print.ts` shows it beside the last one. */
export type Figure = {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What the project wants: at most so much, or at least where `atLeast` is set. */
  readonly goal?: number
  readonly atLeast?: true
}

/** The figures of one run, one a line. `npm run figures` empties it first. */
export const resultsFile = new URL('results.ndjson', import.meta.url).pathname

/** Notes a figure, and shows it in the output of its test. */
export function note(context: TestContext, figure: Figure): void {
  context.diagnostic(`${figure.name}: ${figure.value} ${figure.unit}`)
  appendFileSync(resultsFile, `${JSON.stringify(figure)}\n`)
}

/** Rounds to three significant digits, which is more than a shared machine repeats. */
export const rounded = (value: number): number => Number(value.toPrecision(3))

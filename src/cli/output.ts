import { printableJson, printableLines } from '../values/printable.ts'

/** Where a command writes. */
export type Output = {
  /** Prints the result to stdout. */
  readonly print: (text: string) => void
  /** Prints progress, faults and hints to stderr. */
  readonly tell: (text: string) => void
}

export const standardOutput: Output = {
  print: (text) => void process.stdout.write(`${printableLines(text)}\n`),
  tell: (text) => void process.stderr.write(`${printableLines(text)}\n`),
}

/** Prints a result: with `--json` as one document, else as these lines. */
export function printResult(
  { print }: Pick<Output, 'print'>,
  { json }: { readonly json?: boolean },
  document: object,
  lines: readonly string[],
): void {
  for (const line of json === true ? [printableJson(JSON.stringify(document))] : lines) print(line)
}

/** One `name: value` line for each member of a record. */
export const linesOf = (record: object): readonly string[] =>
  Object.entries(record).map(([name, value]) => `${name}: ${value}`)

/** Microseconds as RFC 3339 in UTC with three fraction digits, or null for undefined. */
export const isoOf = (instant: bigint | undefined): string | null =>
  instant === undefined ? null : new Date(Number(instant / 1000n)).toISOString()

/** Ends the command with exit code 1. The message is a sentence for the operator. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

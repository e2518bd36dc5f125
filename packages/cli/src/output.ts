import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { printableJson, printableLines, systemTime } from '@bursar/base'

/** Where a command writes. */
export type Output = {
  /** Prints the result to stdout. */
  readonly print: (text: string) => void
  /** Writes a piece of a long result to stdout. Resolves when a slow reader has room for more. */
  readonly write: (piece: string) => Promise<void>
  /** Prints what is shown once. Rejects unless the system has taken all of it. */
  readonly reveal: (text: string) => Promise<void>
  /** Prints progress, faults and hints to stderr. */
  readonly tell: (text: string) => void
}

export const standardOutput: Output = {
  print: (text) => void process.stdout.write(`${printableLines(text)}\n`),
  write: async (piece) => {
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
  },
  reveal: (text) => writeOut(Buffer.from(`${printableLines(text)}\n`)),
  tell: (text) => void process.stderr.write(`${printableLines(text)}\n`),
}

const STDOUT = 1
/** A pipe whose reader is slow takes no more for a moment. */
const PIPE_RETRY_MS = 10

/** Past the stream of Node, which reports a failed write too late, or ends the process. */
async function writeOut(bytes: Uint8Array): Promise<void> {
  let rest = bytes
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STDOUT, rest))
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw new CommandFailed(cannotWrite(error), { cause: error })
      await systemTime.pause(PIPE_RETRY_MS)
    }
  }
}

export const cannotWrite = (error: unknown): string =>
  `stdout cannot be written (${codeOf(error) ?? 'unknown fault'})`

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/** Prints a result: with `--json` as one document, else as these lines. */
export function printResult(
  { print }: Pick<Output, 'print'>,
  { json }: { readonly json?: boolean | undefined },
  document: object,
  lines: readonly string[],
): void {
  for (const line of resultLines({ json }, document, lines)) print(line)
}

/** The lines of a result: with `--json` one document. */
export const resultLines = (
  { json }: { readonly json?: boolean | undefined },
  document: object,
  lines: readonly string[],
): readonly string[] => (json === true ? [printableJson(JSON.stringify(document))] : lines)

/** One `name: value` line for each member of a record. */
export const linesOf = (record: object): readonly string[] =>
  Object.entries(record).map(([name, value]) => `${name}: ${value}`)

/** Microseconds as RFC 3339 in UTC with three fraction digits, or null for undefined. */
export const isoOf = (instant: bigint | undefined): string | null =>
  instant === undefined ? null : new Date(Number(instant / 1000n)).toISOString()

/** Ends the command with exit code 1, or another one. The message is for the operator. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
  readonly exitCode: number

  constructor(message: string, { exitCode = 1, ...options }: FailedOptions = {}) {
    super(message, options)
    this.exitCode = exitCode
  }
}

type FailedOptions = ErrorOptions & { readonly exitCode?: number }

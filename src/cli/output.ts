/** Where a command writes. */
export type Output = {
  /** Prints the result to stdout. */
  readonly print: (text: string) => void
  /** Prints progress, faults and hints to stderr. */
  readonly tell: (text: string) => void
}

export const standardOutput: Output = {
  print: (text) => void process.stdout.write(`${text}\n`),
  tell: (text) => void process.stderr.write(`${text}\n`),
}

/** Prints one record: as JSON, or as one `name: value` line for each member. */
export function printRecord(
  { print }: Pick<Output, 'print'>,
  { json }: { readonly json?: boolean },
  record: object,
): void {
  const lines = Object.entries(record).map(([name, value]) => `${name}: ${value}`)
  print(json === true ? JSON.stringify(record) : lines.join('\n'))
}

/** Ends the command with exit code 1. The message is a sentence for the operator. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

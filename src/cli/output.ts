/** What every command gets: where to write, and how to say that it failed. */
export type Output = {
  /** A command's answer. */
  readonly print: (text: string) => void
  /** Everything else: progress, faults, hints. */
  readonly tell: (text: string) => void
}

export const standardOutput: Output = {
  print: (text) => void process.stdout.write(`${text}\n`),
  tell: (text) => void process.stderr.write(`${text}\n`),
}

/** Ends the command with exit code 1; the message is already a sentence for the operator. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

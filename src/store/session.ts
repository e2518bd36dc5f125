/** A value of a statement. */
export type Value = string | bigint | number | null

/** A statement. Its parameters are `$1`, `$2` and so on, in the order of the values. */
export type Statement = {
  readonly text: string
  readonly values?: readonly Value[]
  /** Whether a server keeps the parsed statement; for the few that run all the time. */
  readonly prepare?: boolean
}

/**
 * One session with a database of either engine. The caller awaits each statement before it runs the
 * next. A session in a transaction serves nothing else meanwhile.
 */
export type Session = {
  /** Runs a statement. Returns its rows by column name: text as string, whole numbers as bigint. */
  rows(statement: Statement): Promise<readonly Readonly<Record<string, unknown>>[]>
}

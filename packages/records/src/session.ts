import type { Tenant } from '@bursar/contract'
import { isTrue, type NamedRow } from './row.ts'

/** A value of a statement. A number is whole. */
export type Value = string | bigint | number | boolean | Uint8Array | null

/** A statement. Its parameters are `$1`, `$2` and so on, in the order of the values. */
export type Statement = {
  readonly text: string
  readonly values?: readonly Value[]
  /** Whether a server keeps the parsed statement; for the few that run all the time. */
  readonly prepare?: boolean
  /** A column whose text, a whole page, comes as UTF-8 bytes, so that nobody decodes it. */
  readonly longText?: string
}

/**
 * What an adapter gives the rules of the store: one session with a database of either engine. It
 * runs statements in the order in which they are passed, whether or not the caller has awaited the
 * one before. A session in a transaction serves nothing else meanwhile.
 */
export type Session = {
  /** Runs a statement. Returns its rows by column name: text as string, whole numbers as bigint. */
  rows(statement: Statement): Promise<readonly NamedRow[]>
  /** Runs one or more statements without parameters and without rows. */
  run(text: string): Promise<void>
  /** Adds rows to a table. The values are in the order of the columns. */
  stage(staging: Staging, rows: readonly (readonly StagedValue[])[]): Promise<void>
  /** Passes on the rows of a statement, of which it holds a bounded number. In a transaction. */
  iterate(statement: Statement): AsyncIterable<NamedRow>
}

/** Single statements, each of which may run in another session. */
export type Reads = Pick<Session, 'rows'>

/** Whether a query with one row, and one column of this name, says so. */
export async function holds({ rows }: Reads, text: string): Promise<boolean> {
  const [row] = await rows({ text })
  return isTrue(row?.holds)
}

/**
 * Reads of one tenant, which see nothing of any other. A replica answers only if it has replayed
 * the changes of the kind up to a time, where one is given, and no fresh read.
 */
export type TenantReads = (tenant: Tenant, must?: Shown | 'fresh') => Reads

/** What a read of a past time must have seen. Microseconds. */
export type Shown = { readonly kind: string; readonly until: bigint }

export type StagedValue = Exclude<Value, boolean>

/** A table, most often a temporary one, and the types of the columns that are staged. */
export type Staging = {
  readonly table: string
  readonly columns: Readonly<Record<string, string>>
  /** Further columns, as expressions over a row `line` of those. */
  readonly computed?: Readonly<Record<string, string>>
}

/**
 * Runs work in a transaction, which a rejection rolls back. Rejects with a StoreUnavailable if it
 * cannot begin by a deadline of `Time.elapsedMs`. Work may run before the transaction has begun. If
 * that is refused, no statement has an effect, and work runs again: it changes only the database.
 */
export type Transact = <T>(work: (session: Session) => Promise<T>, deadline?: number) => Promise<T>

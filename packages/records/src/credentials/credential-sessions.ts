import type { Metrics } from '@bursar/base'
import type { Dialect } from '../dialect.ts'
import type { Session } from '../session.ts'

/** What an adapter gives the store of credentials. */
export type CredentialSessions = Pick<Session, 'rows'> & {
  readonly dialect: Dialect
  /** How long a look-up may wait for those before it. */
  readonly waitMs: number
  readonly metrics?: Metrics | undefined
  /** Runs work in a transaction that has raised the revision, which the changed rows then carry. */
  change<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Runs work in a transaction that leaves the revision as it is. */
  write<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Reads with a revision that the result is at least as new as. */
  read<T>(work: (session: Session, revision: bigint) => Promise<T>): Promise<T>
  /**
   * The number after which rows have changed since a revision. Undefined if that is no revision of
   * this store's past: then everything must be read.
   */
  numberSince(since: bigint | undefined, revision: bigint): bigint | undefined
  /** Calls `run` after a change, where the store can notify. Returns the function that stops it. */
  onChange(run: () => void): () => void
}

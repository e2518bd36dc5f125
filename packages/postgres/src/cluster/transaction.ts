import { systemTime } from '@bursar/base'
import type { NamedRow, Session, Statement, Transact } from '@bursar/records'
import { allOf } from '../driver/all-of.ts'
import type { Connection } from '../driver/connection.ts'
import { isPassing, isRefusal, unavailable } from '../driver/failure.ts'
import { rowsOf, sessionOf } from '../session.ts'
import type { Servers } from './servers.ts'

/** A commit waits for the disk, even if the role or the database turns that off. */
const BEGIN = `begin; select set_config('synchronous_commit', 'on', true)
  where current_setting('synchronous_commit') in ('off', 'local')`

/**
 * Runs work on the primary in one transaction. Once it resolves, the change is on disk there and on
 * the synchronous standby, if there is one. Rejects with a StoreUnavailable if that is not certain.
 * The time includes the wait for a session. `settings` are SQL, and of the transaction.
 */
export const transactOn =
  (servers: Servers, settings?: string, withinMs?: number): Transact =>
  (work, deadline) =>
    servers.onPrimary(
      (connection) => transact(connection, () => work(sessionOf(connection)), settings),
      deadline === undefined ? withinMs : deadline - systemTime.elapsedMs(),
    )

/** The same, in a session that the caller holds. */
export async function transact<T>(
  connection: Connection,
  work: () => Promise<T>,
  settings = '',
): Promise<T> {
  try {
    await connection.execute(`${BEGIN}; ${settings}`)
    const result = await work()
    await committed(connection.execute('commit'))
    return result
  } catch (error) {
    // A session that cannot roll back must not be used again.
    if (!connection.isBroken()) await connection.execute('rollback').catch(connection.destroy)
    throw error
  }
}

/**
 * Reads in one transaction, whose statements are sent together: one round trip. The commit is sent
 * whatever fails before it, so no transaction stays open in a session that serves others next.
 */
export async function readTogether(
  connection: Connection,
  statements: readonly Statement[],
): Promise<readonly (readonly NamedRow[])[]> {
  const { rows } = rowsOf(connection)
  const [, found] = await allOf([
    connection.execute('begin transaction read only'),
    allOf(statements.map(rows)),
    connection.execute('commit'),
  ])
  return found
}

/** Awaits a statement that commits. Rejects with a StoreUnavailable if its outcome is unknown. */
export async function committed<T>(statement: Promise<T>): Promise<T> {
  try {
    return await statement
  } catch (error) {
    if (isPassing(error) || isRefusal(error)) throw error
    throw unavailable('the outcome of the change is unknown', error)
  }
}

/**
 * Reads from one snapshot, however slowly the caller takes what it yields: over a session with the
 * primary that has no deadline and serves nothing else.
 */
export async function* readSnapshot<T>(
  servers: Servers,
  settings: string,
  read: (session: Session) => AsyncIterable<T>,
): AsyncIterable<T> {
  const held = Promise.withResolvers<Connection>()
  const reading = Promise.withResolvers<void>()
  const over = servers.onPrimary(async (connection) => {
    held.resolve(connection)
    // Closing the session ends its transaction.
    await reading.promise.finally(connection.destroy)
  }, Number.POSITIVE_INFINITY)
  over.catch(held.reject)
  const connection = await held.promise
  try {
    await connection.execute(
      `begin transaction isolation level repeatable read read only; ${settings}`,
    )
    yield* read(sessionOf(connection))
  } catch (error) {
    reading.reject(error)
  } finally {
    reading.resolve()
    // Rejects with the error of a read, as the caller must see it.
    await over
  }
}

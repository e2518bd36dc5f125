import type { Connection } from '../driver/connection.ts'
import { isPassing, isRefusal, unavailable } from '../driver/failure.ts'
import type { Servers } from './servers.ts'

/** A commit waits for the disk, even if the role or the database turns that off. */
const BEGIN = `begin; select set_config('synchronous_commit', 'on', true)
  where current_setting('synchronous_commit') in ('off', 'local')`

/**
 * Runs work on the primary in one transaction. Once it resolves, the change is on disk there and on
 * the synchronous standby, if there is one. Rejects with a StoreUnavailable if that is not certain.
 */
export function inTransaction<T>(
  servers: Servers,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return servers.onPrimary((connection) => transact(connection, () => work(connection)))
}

/** The same, in a session that the caller holds. `settings` are SQL, and of the transaction. */
export async function transact<T>(
  connection: Connection,
  work: () => Promise<T>,
  settings = '',
): Promise<T> {
  await connection.execute(`${BEGIN}${settings}`)
  try {
    const result = await work()
    await committed(connection.execute('commit'))
    return result
  } catch (error) {
    // A session that cannot roll back must not be used again.
    if (!connection.isBroken()) await connection.execute('rollback').catch(connection.destroy)
    throw error
  }
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

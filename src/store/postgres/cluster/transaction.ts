import type { Connection } from '../driver/connection.ts'
import { isPassing, isRefusal, unavailable } from '../driver/failure.ts'
import type { Servers } from './servers.ts'

/** What is acknowledged is on disk, whatever the role or the database was told of its commits. */
const BEGIN = `begin; select set_config('synchronous_commit', 'on', true)
  where current_setting('synchronous_commit') in ('off', 'local')`

/**
 * Runs work on the primary in one transaction. What it resolves with is on disk and, where a standby is synchronous,
 * there too. Rejects with a StoreUnavailable where that is not known.
 */
export function inTransaction<T>(
  servers: Servers,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return servers.onPrimary((connection) => transact(connection, () => work(connection)))
}

/** The same in a session that is held already. */
export async function transact<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  await connection.execute(BEGIN)
  try {
    const result = await work()
    await committed(connection.execute('commit'))
    return result
  } catch (error) {
    // A session that cannot be brought back to rest must serve nobody else.
    if (!connection.isBroken()) await connection.execute('rollback').catch(connection.destroy)
    throw error
  }
}

/** A statement that commits. What is neither done nor refused, as a commit that no standby confirms, is a StoreUnavailable. */
export async function committed<T>(statement: Promise<T>): Promise<T> {
  try {
    return await statement
  } catch (error) {
    if (isPassing(error) || isRefusal(error)) throw error
    throw unavailable('it is not known whether the change is safe', error)
  }
}

import type { Connection } from '../driver/connection.ts'
import { guarded } from '../driver/failure.ts'
import type { Servers } from './servers.ts'

/** A session with the primary that is reserved for one piece of work, without a deadline. */
export type HeldSession = {
  readonly connection: Connection
  /** Ends the session with its transaction and temporary tables. May be called twice. */
  drop(): Promise<void>
}

export async function holdSession(servers: Servers): Promise<HeldSession> {
  const held = Promise.withResolvers<Connection>()
  const released = Promise.withResolvers<void>()
  const over = servers.onPrimary(async (connection) => {
    held.resolve(connection)
    await released.promise
    connection.destroy()
  }, Number.POSITIVE_INFINITY)
  over.catch(held.reject)
  const connection = await held.promise
  return {
    connection: guardedConnection(connection),
    drop: async () => {
      released.resolve()
      await over
    },
  }
}

/** Maps the errors of a held session as `onPrimary` maps those of any other. */
const guardedConnection = (connection: Connection): Connection => ({
  ...connection,
  rows: (query) => guarded(() => connection.rows(query)),
  query: (query) => guarded(() => connection.query(query)),
  execute: (text) => guarded(() => connection.execute(text)),
  copyIn: (text) => guarded(() => connection.copyIn(text)),
})

import type { Connection } from '../driver/connection.ts'
import { guarded } from '../driver/failure.ts'
import type { Servers } from './servers.ts'

/** A session of the primary that stays with one piece of work, however long that takes. */
export type HeldSession = {
  readonly connection: Connection
  /** Ends the session, and with it its transaction and its temporary tables. Safe to call twice. */
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

/** What fails on a held session is told as it is told of any other. */
const guardedConnection = (connection: Connection): Connection => ({
  ...connection,
  query: (query) => guarded(() => connection.query(query)),
  execute: (text) => guarded(() => connection.execute(text)),
  copyIn: (text) => guarded(() => connection.copyIn(text)),
})

import { limitsOf, type ServerAddress, systemTime } from '@bursar/base'
import { type Connection, openConnection, type SessionOptions } from '../driver/connection.ts'
import type { Servers } from './servers.ts'

const limits = limitsOf({
  /** Delay before a session that is kept is reopened. */
  databaseSessionRetryMs: 500,
})

type KeptSession = Pick<SessionOptions, 'onNotification'> & {
  /** SQL that begins each session. */
  readonly begin: string
  /** Called when a session has begun. */
  readonly begun: () => void
}

/**
 * Keeps one session with the current primary for what lasts as long as a session does. Opens
 * another one when it is lost. Returns what ends it.
 */
export function keepSession(
  servers: Servers,
  { begin, begun, onNotification }: KeptSession,
): () => void {
  let address: ServerAddress | undefined
  let session: Connection | undefined
  let cancelRetry = () => {}
  const start = () => {
    cancelRetry()
    session?.destroy()
    if (address === undefined) return
    const lost = () => {
      if (session !== own) return
      cancelRetry()
      cancelRetry = systemTime.after(limits.databaseSessionRetryMs, start)
    }
    // The library's own `listen` is not used: it reconnects for ever, and to the same server only.
    const own = openConnection(address, {
      parameters: {},
      connectTimeoutMs: CONNECT_MS,
      pooler: servers.pooler,
      ...(onNotification !== undefined && { onNotification }),
      onClose: lost,
    })
    session = own
    own.execute(begin).then(() => {
      if (session === own) begun()
    }, lost)
  }
  const stopFollowing = servers.onNewPrimary((server) => {
    address = server.address
    start()
  })
  return () => {
    stopFollowing()
    address = undefined
    start()
    session = undefined
  }
}

const CONNECT_MS = 5000

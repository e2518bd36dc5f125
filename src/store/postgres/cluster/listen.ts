import { limits } from '../../../platform/limits.ts'
import type { ServerAddress } from '../../../platform/postgres-url.ts'
import { systemTime } from '../../../platform/time.ts'
import { type Connection, openConnection } from '../driver/connection.ts'
import type { Servers } from './servers.ts'

/**
 * Listens to a channel of the current primary over its own session, which it reopens when lost.
 * Calls `heard` for each notification, and without one after each `listen`, because some may have
 * been missed.
 */
export function listen(
  servers: Servers,
  channel: string,
  heard: (payload: string | undefined) => void,
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
      cancelRetry = systemTime.after(limits.databaseListenRetryMs, start)
    }
    // The library's own `listen` is not used: it reconnects for ever, and to the same server only.
    const own = openConnection(address, {
      parameters: {},
      connectTimeoutMs: CONNECT_MS,
      onNotification: heard,
      onClose: lost,
    })
    session = own
    own.execute(`listen ${channel}`).then(() => {
      if (session === own) heard(undefined)
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

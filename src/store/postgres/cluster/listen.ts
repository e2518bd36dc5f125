import postgres from 'postgres'
import { limits } from '../../../platform/limits.ts'
import type { ServerAddress } from '../../../platform/postgres-url.ts'
import { systemSchedule, throttle } from '../../../platform/schedule.ts'
import { oneSession } from '../driver/connection.ts'
import { sessionSocket } from '../driver/session-socket.ts'
import type { Servers } from './servers.ts'

/**
 * Listens to a channel of the current primary over its own session, which it reopens when lost.
 * Calls `run` soon after each notification and each `listen`, because some may have been missed.
 */
export function listen(servers: Servers, channel: string, run: () => void): () => void {
  let address: ServerAddress | undefined
  let session: ListeningSession | undefined
  let cancelRetry = () => {}
  const notified = throttle(run, limits.databaseChangeRestMs)
  const start = () => {
    cancelRetry()
    session?.destroy()
    if (address === undefined) return
    const own = openSession(address, channel, notified.run, () => {
      if (session !== own) return
      cancelRetry()
      cancelRetry = systemSchedule.after(limits.databaseListenRetryMs, start)
    })
    session = own
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
    notified.stop()
  }
}

type ListeningSession = { destroy(): void }

/** The library's own `listen` is not used: it reconnects for ever, and to the same server only. */
function openSession(
  address: ServerAddress,
  channel: string,
  onNotification: () => void,
  onLost: () => void,
): ListeningSession {
  const socket = sessionSocket(address, CONNECT_MS)
  const settings = {
    ...oneSession(address, CONNECT_MS),
    connection: { application_name: 'bursar' },
    onnotice: () => {},
    // The library's types lack these two options.
    onnotify: onNotification,
    socket: socket.open,
    onclose: onLost,
  }
  const sql = postgres(settings as postgres.Options<{ bigint: postgres.PostgresType<bigint> }>)
  sql.unsafe(`listen ${channel}`).then(onNotification, onLost)
  return {
    destroy: () => {
      socket.destroy()
      sql.end({ timeout: 0 }).catch(() => {})
    },
  }
}

const CONNECT_MS = 5000

import postgres from 'postgres'
import { limits } from '../../../platform/limits.ts'
import type { ServerAddress } from '../../../platform/postgres-url.ts'
import { oneSession } from '../driver/connection.ts'
import { sessionSocket } from '../driver/session-socket.ts'
import type { Servers } from './servers.ts'

/**
 * Hears of what is notified on a channel, over a session of its own with whichever server is the primary. Runs `run`
 * soon after each notification, and whenever it has begun to listen: what was said before that, nobody heard. A lost
 * session is made anew; nothing is ever thrown. Answers what ends it.
 */
export function listen(servers: Servers, channel: string, run: () => void): () => void {
  let address: ServerAddress | undefined
  let session: ListeningSession | undefined
  let retry: NodeJS.Timeout | undefined
  const heard = spaced(run, limits.databaseChangeRestMs)
  const begin = () => {
    clearTimeout(retry)
    session?.drop()
    if (address === undefined) return
    const own = openSession(address, channel, heard.soon, () => {
      if (session !== own) return
      clearTimeout(retry)
      retry = setTimeout(begin, limits.databaseListenRetryMs).unref()
    })
    session = own
  }
  const forgetPrimary = servers.onNewPrimary((server) => {
    address = server.address
    begin()
  })
  return () => {
    forgetPrimary()
    address = undefined
    begin()
    session = undefined
    heard.stop()
  }
}

/** Runs at once, and for all who ask while it then rests, once more at the rest's end. */
function spaced(run: () => void, restMs: number) {
  let resting: NodeJS.Timeout | undefined
  let wanted = false
  let stopped = false
  const soon = () => {
    if (stopped) return
    if (resting !== undefined) {
      wanted = true
      return
    }
    wanted = false
    resting = setTimeout(() => {
      resting = undefined
      if (wanted) soon()
    }, restMs).unref()
    run()
  }
  const stop = () => {
    stopped = true
    clearTimeout(resting)
  }
  return { soon, stop }
}

type ListeningSession = { drop(): void }

/** The library's own `listen` reconnects by itself, to the same server for ever; this session ends with its socket. */
function openSession(
  address: ServerAddress,
  channel: string,
  onHeard: () => void,
  onLost: () => void,
): ListeningSession {
  const socket = sessionSocket(address, CONNECT_MS)
  const settings = {
    ...oneSession(address, CONNECT_MS),
    connection: { application_name: 'bursar' },
    onnotice: () => {},
    // These two are not in the library's types.
    onnotify: onHeard,
    socket: socket.open,
    onclose: onLost,
  }
  const sql = postgres(settings as postgres.Options<Record<string, never>>)
  sql.unsafe(`listen ${channel}`).then(onHeard, onLost)
  return {
    drop: () => {
      socket.destroy()
      sql.end({ timeout: 0 }).catch(() => {})
    },
  }
}

const CONNECT_MS = 5000

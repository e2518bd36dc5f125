import type { Logger } from '../../../platform/log.ts'
import type { ServerAddress } from '../../../platform/postgres-url.ts'
import type { Connection, Query, Row } from '../driver/connection.ts'
import { guarded, isConnectFailure, isFull, isLostSession, unavailable } from '../driver/failure.ts'
import { openServer, type Server } from './server.ts'
import { openWatch, type Watch } from './watch.ts'

/** The servers of one database, as one role sees them: a primary, wherever it is now, and standbys to read from. */
export type Servers = {
  /**
   * Runs work on the primary, in one session. Rejects with a StoreUnavailable where there is none, where it does not answer in
   * time, or where the session is lost: then it is not known whether the work was done.
   */
  onPrimary<T>(work: (connection: Connection) => Promise<T>, withinMs?: number): Promise<T>
  /**
   * Runs a query that changes nothing on a standby that has replayed the log up to `notBefore`, else on the primary. Where
   * a session is lost it is tried elsewhere, and where there is no other, once more after a new look at every server.
   */
  read<T>(work: ReadWork<T>, options?: ReadOptions): Promise<T>
  /** Whether there is a server that has come so far, as far as is known. */
  hasReader(notBefore: bigint): boolean
  /** One statement on the primary. */
  query(query: Query): Promise<readonly Row[]>
  /** Called with every primary that is found, and the first one at once. Answers what ends it. */
  onNewPrimary(run: (server: Server) => void): () => void
  close(): Promise<void>
}

/** `server` is for what a read learns of it: `reached`. */
export type ReadWork<T> = (connection: Connection, server: Server) => Promise<T>

export type ReadOptions = {
  readonly notBefore?: bigint | undefined
  /** When it was asked for, by `performance.now()`, where that is before the call: its time counts from then. */
  readonly askedAt?: number
}

export type ServersOptions = {
  readonly primaries: readonly ServerAddress[]
  readonly standbys: readonly ServerAddress[]
  readonly parameters: Readonly<Record<string, string | number>>
  readonly connectionsMax: number
  readonly withinMs: number
  readonly lagMsMax: number
  readonly log: Logger
}

/** Looks at every server, finds the primary, and goes on looking until it is closed. */
export async function openServers(options: ServersOptions): Promise<Servers> {
  const open = (address: ServerAddress) => openServer({ ...options, address })
  const primaries = options.primaries.map(open)
  const standbys = options.standbys.map(open)
  const watch = await openWatch({ ...options, primaries, standbys })
  const use = openUse(watch)
  const onPrimary: Servers['onPrimary'] = (work, withinMs) =>
    guarded(() => use(watch.primary(), (server) => server.pool.run(work, withinMs)))
  return {
    onPrimary,
    query: (query) => onPrimary((connection) => connection.query(query)),
    read: (work, { notBefore = 0n, askedAt = performance.now() } = {}) => {
      const waitedMs = performance.now() - askedAt
      const leftMs = () => options.withinMs - (performance.now() - askedAt)
      const readFrom = (server: Server) =>
        server.pool.run((connection) => work(connection, server), leftMs(), waitedMs)
      return guarded(() =>
        readAnywhere(watch, notBefore, leftMs, (server) => use(server, readFrom)),
      )
    },
    hasReader: watch.hasReader,
    onNewPrimary: watch.onNewPrimary,
    close: async () => {
      watch.stop()
      await Promise.all([...primaries, ...standbys].map((server) => server.close()))
    },
  }
}

/**
 * Reads from one server after the other until one answers. When all have failed they are looked at once more, for what
 * was known of them may be half a second old: a standby may by now have replayed what the read asks for.
 */
async function readAnywhere<T>(
  watch: Watch,
  notBefore: bigint,
  leftMs: () => number,
  readFrom: (server: Server) => Promise<T>,
): Promise<T> {
  const failed = new Set<Server>()
  let hasLooked = false
  let failure: unknown
  for (;;) {
    const server = watch.reader(notBefore, failed)
    if (server === undefined) {
      if (hasLooked) throw failure ?? unavailable('neither a primary nor a standby is to be found')
      hasLooked = true
      await watch.look(leftMs())
      failed.clear()
      continue
    }
    try {
      return await readFrom(server)
    } catch (error) {
      if (!isElsewhereBetter(error)) throw error
      failed.add(server)
      failure = error
    }
  }
}

/** Lost sessions, and what a standby gives up because the log it replays takes away what was being read. */
const isElsewhereBetter = (error: unknown): boolean =>
  isLostSession(error) || (error as { code?: unknown }).code === '40001'

/** Uses a server, and learns from it when a session is lost: those beside it are hardly better off. */
function openUse(watch: Watch) {
  return async <T>(server: Server, work: (server: Server) => Promise<T>): Promise<T> => {
    try {
      return await work(server)
    } catch (error) {
      if (isConnectFailure(error)) server.distrust()
      // A server that is full refuses new sessions, and what is open already is worth the more.
      else if (isLostSession(error) && !isFull(error)) server.pool.dropAll()
      if (isLostSession(error)) watch.lookSoon()
      throw error
    }
  }
}

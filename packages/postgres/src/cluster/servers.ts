import {
  type Background,
  ConfigError,
  type Logger,
  limitsOf,
  type Metrics,
  noMetrics,
  openBackground,
  type PoolName,
  type ServerAddress,
  systemTime,
} from '@bursar/base'
import {
  type NamedRow,
  type Statement,
  type StoreServer,
  StoreUnavailable,
  text,
} from '@bursar/records'
import type { Connection, Pooler } from '../driver/connection.ts'
import { guarded, isConnectFailure, isFull, isLostSession, unavailable } from '../driver/failure.ts'
import type { SessionSettings } from '../driver/sessions.ts'
import type { RoleCheck } from '../schema/roles.ts'
import { type Monitor, openMonitor } from './monitor.ts'
import { openServer, type Server } from './server.ts'

const limits = limitsOf({
  /** How long a server that starts tries to learn of other issuers on its store. */
  issuerClaimMs: 20_000,
  issuerClaimPauseMs: 100,
})

/** The servers of one database, as one role: the current primary, and standbys to read from. */
export type Servers = {
  /**
   * Runs work on the primary. After a StoreUnavailable the work may have been done or not. It waits
   * `waitMs` for a session.
   */
  onPrimary<T>(
    work: (connection: Connection) => Promise<T>,
    withinMs?: number,
    waitMs?: number,
  ): Promise<T>
  /** Reads from a standby, else the primary. Tries another if a session is lost or it is behind. */
  read<T>(work: ReadWork<T>, options?: ReadOptions): Promise<T>
  /** Rejects with the reason unless some server that may be read from answers. */
  ping(): Promise<void>
  /** Each server as the last health check found it. */
  states(): readonly StoreServer[]
  /** Runs one statement on the primary. Returns its rows by column name. */
  rows(query: Statement): Promise<readonly NamedRow[]>
  readonly pooler: Pooler
  readonly metrics: Metrics
  /** The sessions with one server at most. */
  readonly connectionsMax: number
  /** Calls `run` with the current primary and each new one. Returns the function that stops it. */
  onNewPrimary(run: (server: Server) => void): () => void
  /** Declares the issuer of this process. Resolves with that of another one, if it differs. */
  claimIssuer(issuer: string): Promise<string | undefined>
  close(): Promise<void>
}

/** A read throws a ReplicaBehind where the server is a standby that must not answer it. */
export type ReadWork<T> = (connection: Connection, server: Server) => Promise<T>

export type ReadOptions = {
  /** When the read was requested, by `Time.elapsedMs`. Its deadline counts from then. */
  readonly askedAt?: number
}

export type ServersDeps = {
  readonly primaries: readonly ServerAddress[]
  readonly standbys: readonly ServerAddress[]
  readonly parameters: SessionSettings
  readonly pooler?: Pooler
  readonly requireRole: { readonly primary: RoleCheck; readonly standby: RoleCheck }
  readonly connectionsMax: number
  readonly withinMs: number
  readonly log: Logger
  readonly background?: Background | undefined
  /** Whose sessions they are, where a process has several. */
  readonly of?: PoolName
  readonly metrics?: Metrics | undefined
}

/**
 * Checks every server once, to find the primary, and monitors them until closed. Throws a
 * ConfigError if the role of a server that answers may not be used.
 */
export async function openServers(deps: ServersDeps): Promise<Servers> {
  const { pooler = 'none', background = openBackground(), of } = deps
  const { metrics = noMetrics } = deps
  const measured = of === undefined ? undefined : { metrics, as: of }
  const { primary, standby } = deps.requireRole
  const primaries = deps.primaries.map((address) =>
    openServer({ ...deps, address, requireRole: primary, mayLag: false, measured }),
  )
  // A balancer may be in between, so what answers now may follow later than what answered before.
  const standbys = deps.standbys.map((address) =>
    openServer({ ...deps, address, requireRole: standby, mayLag: true, measured }),
  )
  const all = [...primaries, ...standbys]
  const monitor = await openMonitor({ ...deps, background, of, primaries, standbys })
  const close = async () => {
    monitor.stop()
    await Promise.all(all.map((server) => server.close()))
  }
  const refusals = all.flatMap((server) => {
    const refusal = server.refusal()
    return refusal === undefined ? [] : [`${server.label}: ${refusal}`]
  })
  if (refusals.length > 0) {
    await close()
    throw new ConfigError(refusals.join('\n'))
  }
  const onPrimary: Servers['onPrimary'] = (work, withinMs, waitMs) =>
    guarded(() =>
      useServer(monitor, monitor.primary(), ({ pool }) => pool.run(work, withinMs, 0, waitMs)),
    )
  return {
    onPrimary,
    rows: (query) => onPrimary((connection) => connection.rows(query)),
    read: (work, { askedAt = systemTime.elapsedMs() } = {}) => {
      const waitedMs = systemTime.elapsedMs() - askedAt
      const leftMs = () => deps.withinMs - (systemTime.elapsedMs() - askedAt)
      const readFrom = (server: Server) =>
        server.pool.run((connection) => work(connection, server), leftMs(), waitedMs)
      return guarded(() => readAnywhere(monitor, leftMs, readFrom))
    },
    ping: () => guarded(() => pingReader(monitor)),
    states: monitor.states,
    pooler,
    metrics,
    connectionsMax: deps.connectionsMax,
    onNewPrimary: monitor.onNewPrimary,
    claimIssuer: async (issuer) => {
      // The name of a session outlives its process there.
      if (pooler === 'transaction') return undefined
      const name = sessionNameOf(issuer)
      for (const server of all) server.nameSession(name)
      await monitor.check(deps.withinMs)
      const until = systemTime.elapsedMs() + limits.issuerClaimMs
      for (;;) {
        try {
          return await onPrimary((connection) => otherIssuer(connection, name))
        } catch (error) {
          // Requests that came in as the server began to listen may have every session.
          if (!(error instanceof StoreUnavailable) || systemTime.elapsedMs() > until) throw error
          await systemTime.pause(limits.issuerClaimPauseMs)
        }
      }
    },
    close,
  }
}

/** Tries one server after another. If all fail, checks their health and tries once more. */
async function readAnywhere<T>(
  monitor: Monitor,
  leftMs: () => number,
  readFrom: (server: Server) => Promise<T>,
): Promise<T> {
  const failed = new Set<Server>()
  let hasChecked = false
  let failure: unknown
  for (;;) {
    const server = monitor.reader(failed)
    if (server === undefined) {
      if (hasChecked) throw failure ?? unavailable('neither the primary nor a standby answers')
      hasChecked = true
      await monitor.check(leftMs())
      failed.clear()
      continue
    }
    try {
      return await useServer(monitor, server, readFrom)
    } catch (error) {
      if (!isWorthRetrying(error)) throw error
      failed.add(server)
      failure = error
    }
  }
}

/** Asks one server after another over the session of its health check, which no request takes. */
async function pingReader(monitor: Monitor): Promise<void> {
  const failed = new Set<Server>()
  let failure: unknown
  for (;;) {
    const server = monitor.reader(failed)
    // Throws, with why there is no primary.
    if (server === undefined && failure === undefined) monitor.primary()
    if (server === undefined) throw failure
    try {
      return await server.ping()
    } catch (error) {
      failed.add(server)
      failure = error
    }
  }
}

/** A standby has not replayed what its reader has seen. */
export class ReplicaBehind extends StoreUnavailable {
  constructor() {
    super('no server that answers has the changes that the page before showed')
  }
}

/** Replay on a standby may cancel a query, which is a conflict. */
const isWorthRetrying = (error: unknown): boolean =>
  error instanceof ReplicaBehind ||
  isLostSession(error) ||
  (error as { code?: unknown }).code === '40001'

/** Runs work on a server. If its session is lost, the idle ones likely are, so it drops them. */
async function useServer<T>(
  monitor: Monitor,
  server: Server,
  work: (server: Server) => Promise<T>,
): Promise<T> {
  try {
    return await work(server)
  } catch (error) {
    if (isConnectFailure(error)) server.markDown()
    // A full server refuses new sessions, so the open ones are worth keeping.
    else if (isLostSession(error) && !isFull(error)) server.pool.dropAll()
    if (isLostSession(error)) monitor.checkSoon()
    throw error
  }
}

const PREFIX = 'bursar '
/** PostgreSQL keeps 63 bytes of a name. */
const NAME_LENGTH_MAX = 63

/**
 * The name of a session that declares the issuer of its process. The session of the health check
 * has it: each server has one of every process, and it ends with the process.
 */
const sessionNameOf = (issuer: string): string =>
  `${PREFIX}${encodeURI(issuer.toWellFormed())}`.slice(0, NAME_LENGTH_MAX)

/** Another issuer that a live process with the same role declares for this database. */
async function otherIssuer(connection: Connection, name: string): Promise<string | undefined> {
  const [row] = await connection.rows({
    text: `select application_name as name from pg_stat_activity
      where datname = current_database() and usename = current_user
        and starts_with(application_name, $1) and application_name <> $2 order by 1 limit 1`,
    values: [PREFIX, name],
  })
  return row && text(row, 'name').slice(PREFIX.length)
}

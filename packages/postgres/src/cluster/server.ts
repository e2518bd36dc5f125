import { type Logger, limitsOf, type ServerAddress } from '@bursar/base'
import { whole } from '@bursar/records'
import { type Connection, openConnection, type Pooler } from '../driver/connection.ts'
import {
  areSettingsRefused,
  isConnectFailure,
  isLostSession,
  isSessionRefused,
  safeMessage,
} from '../driver/failure.ts'
import type { SessionSettings } from '../driver/sessions.ts'
import { postgresLimits } from '../limits.ts'
import type { RoleCheck } from '../schema/roles.ts'
import { requireSession, startRefused } from '../schema/session-settings.ts'
import { openPool, type Pool, type PoolOptions } from './pool.ts'

const limits = limitsOf({
  /** Requests that may wait for each session. */
  databaseWaitingPerSession: 50,
})

/** The result of a health check. */
export type Health = {
  readonly role: 'primary' | 'standby'
  /** Of the log that a primary writes, or of what a standby has replayed. */
  readonly timeline: number
  /** Whether an operator has stopped the replay of a standby. */
  readonly isPaused: boolean
}

/** One server, its pool of sessions and its health. */
export type Server = {
  readonly label: string
  readonly address: ServerAddress
  readonly pool: Pool
  /** Whether its pages may be older than what another server has shown. */
  readonly mayLag: boolean
  /** Undefined while the server is down. */
  health(): Health | undefined
  /** Why the last health check failed. Undefined if it succeeded. */
  failure(): string | undefined
  /** Runs a query over the session of the health check. Rejects if the server does not answer. */
  ping(): Promise<void>
  /** Why the server is refused, if the role of its URL or its settings may not be used. */
  refusal(): string | undefined
  /** Checks the server over a session that no request can take. */
  checkHealth(): Promise<void>
  /** Names the session of the health check, so that other processes see who serves the store. */
  nameSession(name: string): void
  /** Drops all sessions and reads nothing from the server until the next health check. */
  markDown(): void
  close(): Promise<void>
}

export type ServerOptions = {
  readonly address: ServerAddress
  readonly parameters: SessionSettings
  readonly pooler?: Pooler | undefined
  /** Runs on every new session, because any connection may reach another server. */
  readonly requireRole: RoleCheck
  readonly mayLag: boolean
  readonly connectionsMax: number
  readonly withinMs: number
  readonly log: Logger
  readonly measured?: PoolOptions['measured']
}

export function openServer(options: ServerOptions): Server {
  const { address, parameters, pooler, requireRole, connectionsMax, withinMs, log } = options
  const open = (naming = {}) =>
    openConnection(address, {
      parameters: { ...parameters, ...naming },
      connectTimeoutMs: withinMs,
      pooler,
    })
  const requireUsable = async (connection: Connection) => {
    await requireSession(connection)
    await requireRole(connection)
  }
  // A pooler gives each transaction another session, whose settings may have changed by now.
  const look = async (connection: Connection) => {
    if (pooler === 'transaction') await requireSession(connection)
    return await readHealth(connection)
  }
  let sessionName: string | undefined
  const pool = openPool({
    open,
    check: async (connection) => {
      await requireUsable(connection)
      if (health?.role === 'primary') await requirePrimary(connection)
    },
    connectionsMax,
    waitingMax: connectionsMax * limits.databaseWaitingPerSession,
    waitMs: Math.min(postgresLimits.databaseWaitMs, withinMs),
    withinMs,
    measured: options.measured,
  })
  // Health and readiness checks share one session, whose pool handles their deadlines too.
  const checkPool = openPool({
    open: () => open(sessionName === undefined ? {} : { application_name: sessionName }),
    check: requireUsable,
    connectionsMax: 1,
    waitingMax: 4,
    waitMs: withinMs,
    withinMs,
  })
  let health: Health | undefined
  let refusal: string | undefined
  let failure: string | undefined
  let isOpen = false
  let missed = 0
  const noteRefusal = (reason: string | undefined) => {
    // openServers reports the refusals of the first check.
    if (reason !== undefined && reason !== refusal && isOpen) {
      log.error({ server: address.label, reason }, 'refused a database server')
    }
    refusal = reason
    isOpen = true
  }
  return {
    label: address.label,
    address,
    pool,
    mayLag: options.mayLag,
    health: () => health,
    failure: () => failure,
    ping: () => checkPool.run((connection) => connection.execute('select 1')),
    refusal: () => refusal,
    nameSession: (name) => {
      sessionName = name
      checkPool.dropAll()
    },
    checkHealth: async () => {
      try {
        health = await checkTwice(checkPool, look)
        missed = 0
        failure = undefined
        noteRefusal(undefined)
      } catch (error) {
        missed += 1
        failure = safeMessage(error)
        noteRefusal(refusalOf(error))
        // A refused connection marks the server as down at once, a late answer only if repeated.
        if (!isConnectFailure(error) && missed < CHECKS_MISSED_MAX) return
        if (health !== undefined) pool.dropAll()
        health = undefined
      }
    },
    markDown: () => {
      health = undefined
      pool.dropAll()
      checkPool.dropAll()
    },
    close: async () => {
      await checkPool.close()
      await pool.close()
    },
  }
}

/** Why a server may not be used. Undefined if it only fails. */
function refusalOf(error: unknown): string | undefined {
  if (isSessionRefused(error)) return error.message
  return areSettingsRefused(error) ? startRefused(error) : undefined
}

/** An idle session may have been cut without the server being down; a new session tells. */
async function checkTwice(checkPool: Pool, look: typeof readHealth): Promise<Health> {
  return await checkPool.run(look).catch((error: unknown) => {
    if (isLostSession(error) && !isConnectFailure(error)) return checkPool.run(look)
    throw error
  })
}

/** Another server may have taken over the address since the last check; it could be a standby. */
async function requirePrimary(connection: Connection): Promise<void> {
  const [row] = await connection.rows({ text: 'select pg_is_in_recovery() as is_standby' })
  if (row?.is_standby === true) {
    throw Object.assign(new Error('the server is a standby'), { code: '25006' })
  }
}

const CHECKS_MISSED_MAX = 2

/** `written` is the timeline of the current log file, `replayed` that of the last promotion. */
const HEALTH = `
  select is_standby, case when is_standby then pg_is_wal_replay_paused() else false end as is_paused,
    case when is_standby then 0
    else ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint end as written,
    lineage.timeline as replayed
  from (select pg_is_in_recovery() as is_standby offset 0) as log, bursar.lineage`

/**
 * A promoted primary stores its timeline; a standby that has replayed it follows this primary. A
 * restored dump brings the timeline of another cluster, which may be higher.
 */
async function readHealth(connection: Connection): Promise<Health> {
  const [row = {}] = await connection.rows({ text: HEALTH, prepare: true })
  const [isPaused, replayed] = [row.is_paused === true, whole(row, 'replayed')]
  if (row.is_standby === true) return { role: 'standby', timeline: Number(replayed), isPaused }
  const written = whole(row, 'written')
  if (written !== replayed) {
    await connection.rows({
      // Does not wait for a synchronous standby, because a new primary may have none yet.
      text: `
        with commits as materialized (select set_config('synchronous_commit', 'local', true))
        update bursar.lineage set timeline = $1 from commits where timeline <> $1`,
      values: [written],
    })
  }
  return { role: 'primary', timeline: Number(written), isPaused }
}

import { limits } from '../../../platform/limits.ts'
import type { ServerAddress } from '../../../platform/postgres-url.ts'
import { type Connection, openConnection, type Row } from '../driver/connection.ts'
import { isConnectFailure, isLostSession } from '../driver/failure.ts'
import { openPool, type Pool } from './pool.ts'

/** What a look at a server found. `timeline` is of the log it writes, or for a standby of the last it has replayed. */
export type Sight =
  | { readonly role: 'primary'; readonly timeline: number; readonly position: bigint }
  | { readonly role: 'standby'; readonly timeline: number; readonly position: bigint }

/** One server, its sessions, and what is known of it. */
export type Server = {
  readonly label: string
  readonly address: ServerAddress
  readonly pool: Pool
  /** Undefined while it does not answer. */
  sight(): Sight | undefined
  /** Looks at it, over a session of its own that no request can take. */
  look(): Promise<void>
  /** A session was lost: its other sessions are dropped, and it is out of use until the next look. */
  distrust(): void
  /** A page was read at this position, so the standby has reached it. */
  reached(position: bigint): void
  close(): Promise<void>
}

export type ServerOptions = {
  readonly address: ServerAddress
  readonly parameters: Readonly<Record<string, string | number>>
  readonly connectionsMax: number
  readonly withinMs: number
}

export function openServer({
  address,
  parameters,
  connectionsMax,
  withinMs,
}: ServerOptions): Server {
  const open = () => openConnection(address, { parameters, connectTimeoutMs: withinMs })
  const pool = openPool({
    open,
    check: async (connection) => {
      if (sight?.role === 'primary') await requirePrimary(connection)
    },
    connectionsMax,
    waitingMax: connectionsMax * limits.databaseWaitingPerSession,
    waitMs: Math.min(limits.databaseWaitMs, withinMs),
    withinMs,
  })
  // The looks have a pool of one: a time-out of theirs is handled as any other.
  const watch = openPool({ open, connectionsMax: 1, waitingMax: 1, waitMs: withinMs, withinMs })
  let sight: Sight | undefined
  let missed = 0
  return {
    label: address.label,
    address,
    pool,
    sight: () => sight,
    look: async () => {
      // A session that was cut off while it rested says nothing of the server; a new one does.
      const again = (error: unknown) => {
        if (isLostSession(error) && !isConnectFailure(error)) return watch.run(readSight)
        throw error
      }
      try {
        sight = await watch.run(readSight).catch(again)
        missed = 0
      } catch (error) {
        missed += 1
        // One late answer is no reason to give a server up; a refused connection is.
        if (!isConnectFailure(error) && missed < LOOKS_MISSED_MAX) return
        if (sight !== undefined) pool.dropAll()
        sight = undefined
      }
    },
    distrust: () => {
      sight = undefined
      pool.dropAll()
      watch.dropAll()
    },
    reached: (position) => {
      if (sight?.role === 'standby' && position > sight.position) sight = { ...sight, position }
    },
    close: async () => {
      await watch.close()
      await pool.close()
    },
  }
}

/** Between two looks another server may have come to answer at the address: a standby must not be read as the primary. */
async function requirePrimary(connection: Connection): Promise<void> {
  const [row] = await connection.query({ text: 'select pg_is_in_recovery()' })
  if (String(row?.[0]) === 't')
    throw Object.assign(new Error('is a standby now'), { code: '25006' })
}

const LOOKS_MISSED_MAX = 2

/** Positions are byte offsets of the log. The names of a primary's log files begin with its timeline. */
const lookAt = `
  select recovering, (position - '0/0')::bigint, case when recovering then 0
    else ('x' || left(pg_walfile_name(position), 8))::bit(32)::bigint end, replayed.timeline
  from (
    select pg_is_in_recovery() as recovering, case when pg_is_in_recovery()
      then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end as position offset 0
  ) as log, bursar.lineage as replayed`

/**
 * Looks at a server. A primary whose timeline is new (it was promoted) writes it down, so that whoever replays that
 * line is known to follow this primary and not the one before.
 */
async function readSight(connection: Connection): Promise<Sight> {
  const [row] = await connection.query({ text: lookAt, prepare: true })
  const [recovering, position, written, replayed] = (row as Row).map(String)
  const at = BigInt(position ?? '0')
  if (recovering === 't') return { role: 'standby', timeline: Number(replayed), position: at }
  const timeline = Number(written)
  if (timeline !== Number(replayed)) {
    await connection.query({
      // Waits for no synchronous standby: a new primary may have none yet, and is to be found all the same.
      text: `
        with commits as materialized (select set_config('synchronous_commit', 'local', true))
        update bursar.lineage set timeline = $1 from commits where timeline < $1`,
      values: [timeline],
    })
  }
  return { role: 'primary', timeline, position: at }
}

import type { Finding } from '../../../platform/finding.ts'
import type { ServerAddress } from '../../../platform/postgres-url.ts'
import { systemTime } from '../../../platform/time.ts'
import { text, whole } from '../../row.ts'
import { openStateless } from '../cluster/with-primary.ts'
import type { Connection } from '../driver/connection.ts'

/** Whether a fail-over keeps what was acknowledged, and whether each standby can be read. */
export async function standbyFindings(
  primary: Connection,
  standbys: readonly ServerAddress[],
  lagMsMax: number,
): Promise<readonly Finding[]> {
  if (standbys.length === 0) return []
  const [row = {}] = await primary.rows({
    text: `select (pg_current_wal_flush_lsn() - '0/0')::bigint as position, ${STARTED} as started,
      current_setting('synchronous_standby_names') as synchronous`,
  })
  const asynchronous = {
    what: 'no standby is synchronous (synchronous_standby_names is empty)',
    why: 'changes that callers were told of are lost with the primary',
    fix: 'name the standbys in synchronous_standby_names, such as `any 1 (*)`',
  }
  const ofPrimary = { position: whole(row, 'position'), started: text(row, 'started') }
  const behind = await Promise.all(
    standbys.map((address) => lagFindings(address, ofPrimary, lagMsMax)),
  )
  return [...(text(row, 'synchronous') === '' ? [asynchronous] : []), ...behind.flat()]
}

/** Two servers do not start in the same microsecond, so this tells whether two are one. */
const STARTED = 'extract(epoch from pg_postmaster_start_time())::text'

/** Whether a standby replays, in the time that reads allow it, what the primary has written. */
async function lagFindings(
  address: ServerAddress,
  primary: { readonly position: bigint; readonly started: string },
  lagMsMax: number,
): Promise<readonly Finding[]> {
  const fix = 'look at its log and at pg_stat_replication of the primary'
  const connection = openStateless(address)
  try {
    const end = systemTime.elapsedMs() + lagMsMax
    for (;;) {
      const [row = {}] = await connection.rows({
        text: `select pg_is_in_recovery() as is_standby, ${STARTED} as started,
          coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint as replayed`,
      })
      // The list may have every member of a cluster, of which one is the primary.
      if (row.started === primary.started) return []
      if (row.is_standby !== true) {
        const what = `${address.label} of DATABASE_READ_URLS is no standby`
        const why = 'it may be an old primary, whose records are of another past'
        return [{ what, why, fix: 'make it a standby of the primary, or take it out' }]
      }
      if (whole(row, 'replayed') >= primary.position) return []
      if (systemTime.elapsedMs() > end) {
        const what = `${address.label} is more than ${lagMsMax} ms behind the primary`
        return [{ what, why: 'reads go to the primary instead', fix }]
      }
      await systemTime.pause(LAG_STEP_MS)
    }
  } catch {
    // The check of the database has reported a server that does not answer.
    return []
  } finally {
    await connection.close()
  }
}

const LAG_STEP_MS = 50

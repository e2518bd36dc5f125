import type { Finding, ServerAddress } from '@bursar/base'
import { text } from '@bursar/records'
import { openStateless } from '../cluster/with-primary.ts'
import type { Connection } from '../driver/connection.ts'

/** Whether a fail-over keeps what was acknowledged, and whether each standby can be read. */
export async function standbyFindings(
  primary: Connection,
  standbys: readonly ServerAddress[],
): Promise<readonly Finding[]> {
  if (standbys.length === 0) return []
  const [row = {}] = await primary.rows({
    text: `select ${STARTED} as started,
      current_setting('synchronous_standby_names') as synchronous`,
  })
  const asynchronous = {
    what: 'no standby is synchronous (synchronous_standby_names is empty)',
    why: 'changes that callers were told of are lost with the primary',
    fix: 'name the standbys in synchronous_standby_names, such as `any 1 (*)`',
  }
  const started = text(row, 'started')
  const unread = await Promise.all(standbys.map((address) => unreadFindings(address, started)))
  return [...(text(row, 'synchronous') === '' ? [asynchronous] : []), ...unread.flat()]
}

/** Two servers do not start in the same microsecond, so this tells whether two are one. */
const STARTED = 'extract(epoch from pg_postmaster_start_time())::text'

/** Why no reads go to a standby that answers. */
async function unreadFindings(
  address: ServerAddress,
  primaryStarted: string,
): Promise<readonly Finding[]> {
  const connection = openStateless(address)
  try {
    const [row = {}] = await connection.rows({
      text: `select pg_is_in_recovery() as is_standby, ${STARTED} as started,
        case when pg_is_in_recovery() then pg_is_wal_replay_paused() end as is_paused`,
    })
    // The list may have every member of a cluster, of which one is the primary.
    if (row.started === primaryStarted) return []
    if (row.is_standby !== true) {
      const what = `${address.label} of DATABASE_READ_URLS is no standby`
      const why = 'it may be an old primary, whose records are of another past'
      return [{ what, why, fix: 'make it a standby of the primary, or take it out' }]
    }
    if (row.is_paused !== true) return []
    const what = `the replay of ${address.label} is paused`
    return [{ what, why: 'no reads go to it', fix: 'run `select pg_wal_replay_resume()` on it' }]
  } catch {
    // The check of the database has reported a server that does not answer.
    return []
  } finally {
    await connection.close()
  }
}

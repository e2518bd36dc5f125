import type { CredentialSessions } from '../../credentials/credential-sessions.ts'
import { whole } from '../../row.ts'
import { StoreUnavailable } from '../../unavailable.ts'
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'
import type { Connection } from '../driver/connection.ts'
import { unavailable } from '../driver/failure.ts'
import { sessionOf } from '../session.ts'

/** The channel on which a change is notified. Listeners then read the revision. */
export const CHANGED = 'bursar_credentials'

/** The timeline is the high bits, because a promoted standby may use the old primary's numbers. */
const TIMELINE_UNIT = 1n << 40n
const REVISION = `lineage.timeline * ${TIMELINE_UNIT} + revision.value as revision`

/**
 * The number after which rows have changed since a revision. Undefined if that revision is of
 * another timeline or of the future: then everything must be read.
 */
function numberSince(since: bigint | undefined, revision: bigint): bigint | undefined {
  if (since === undefined || since > revision) return undefined
  return since / TIMELINE_UNIT === revision / TIMELINE_UNIT ? since % TIMELINE_UNIT : undefined
}

/**
 * Changes and reads of credentials, with their revision. A change notifies every listening process.
 * Without a primary, a read uses a standby that has every revision seen here: a disabled client
 * must stay disabled.
 */
export function openCredentialChanges(
  servers: Servers,
): Pick<CredentialSessions, 'change' | 'read' | 'numberSince'> {
  let seen = 0n
  const saw = (revision: bigint) => {
    if (revision > seen) seen = revision
  }
  return {
    numberSince,
    change: async (work) => {
      const { revision, result } = await inTransaction(servers, async (connection) => ({
        // Locks the revision's row first, so that changes run one after another.
        revision: await bump(connection),
        result: await work(sessionOf(connection)),
      }))
      saw(revision)
      return result
    },
    read: async (work) => {
      const readFrom = async (connection: Connection, atLeast: bigint) => {
        const revision = await readRevision(connection)
        if (revision < atLeast) throw unavailable('the standby is behind what has been seen')
        return { revision, result: await work(sessionOf(connection), revision) }
      }
      const { revision, result } = await servers
        .onPrimary((connection) => readFrom(connection, 0n))
        .catch((error: unknown) => {
          if (!(error instanceof StoreUnavailable)) throw error
          return servers.read((connection) => readFrom(connection, seen))
        })
      saw(revision)
      return result
    },
  }
}

async function readRevision(connection: Connection): Promise<bigint> {
  const [row] = await connection.rows({
    text: `select ${REVISION} from bursar.credential_revision as revision, bursar.lineage`,
    prepare: true,
  })
  return whole(row ?? {}, 'revision')
}

async function bump(connection: Connection): Promise<bigint> {
  const [row] = await connection.rows({
    text: `
      with revision as (update bursar.credential_revision set value = value + 1 returning value)
      select ${REVISION}, pg_notify('${CHANGED}', '') from revision, bursar.lineage`,
  })
  return whole(row ?? {}, 'revision')
}

import { StoreUnavailable } from '../../unavailable.ts'
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'
import { whole } from '../driver/cells.ts'
import type { Connection, Row } from '../driver/connection.ts'
import { unavailable } from '../driver/failure.ts'

/** The two ways to the credentials that the revision is about. */
export type CredentialChanges = {
  /** Runs work in a transaction that bumps the revision, and tells every process that listens. */
  change<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /**
   * Reads what is no older than the revision that is handed in, from the primary, or from a standby while there is none.
   * A standby that is behind what this process has seen is of no use: a client that was disabled would be back.
   */
  read<T>(work: StateWork<T>): Promise<T>
}

type StateWork<T> = (connection: Connection, revision: bigint) => Promise<T>

/** Everybody who listens here looks at the revision. */
export const CHANGED = 'bursar_credentials'

/**
 * The primary's timeline counts for more than the number in the table: a promoted standby may lack the last changes of
 * the server before it, and then gives the same numbers to others.
 */
const REVISION = 'lineage.timeline * 1099511627776 + revision.value'

export function openCredentialChanges(servers: Servers): CredentialChanges {
  let seen = 0n
  const saw = (revision: bigint) => {
    if (revision > seen) seen = revision
  }
  return {
    change: async (work) => {
      const { revision, result } = await inTransaction(servers, async (connection) => ({
        // First, so that changes wait for each other here and each then sees what the one before it has done.
        revision: await bump(connection),
        result: await work(connection),
      }))
      saw(revision)
      return result
    },
    read: async (work) => {
      const readFrom = async (connection: Connection, atLeast: bigint) => {
        const revision = await readRevision(connection)
        if (revision < atLeast) throw unavailable('the standby is behind what has been seen')
        return { revision, result: await work(connection, revision) }
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
  const [row] = await connection.query({
    text: `select ${REVISION} from bursar.credential_revision as revision, bursar.lineage`,
    prepare: true,
  })
  return whole(row as Row, 0)
}

async function bump(connection: Connection): Promise<bigint> {
  const [row] = await connection.query({
    text: `
      with revision as (update bursar.credential_revision set value = value + 1 returning value)
      select ${REVISION}, pg_notify('${CHANGED}', '') from revision, bursar.lineage`,
  })
  return whole(row as Row, 0)
}

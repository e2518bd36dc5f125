import { limitsOf, throttle } from '@bursar/base'
import {
  type CredentialStore,
  openCredentials,
  type Session,
  type Statement,
  StoreUnavailable,
  whole,
} from '@bursar/records'
import { listen } from './cluster/listen.ts'
import type { Servers } from './cluster/servers.ts'
import { transactOn } from './cluster/transaction.ts'
import { dialect } from './dialect.ts'
import { unavailable } from './driver/failure.ts'
import { postgresLimits } from './limits.ts'
import { rowsOf, sessionOf } from './session.ts'

const limits = limitsOf({
  /** Pause between two notifications. */
  databaseChangeRestMs: 100,
})

/**
 * Stores credentials in PostgreSQL. The caller closes the servers. A change notifies every
 * listening process. Only the refresh of states and keys may read a standby, so every process sees
 * a change of a client at once. It reads one without a primary, and only if that has every revision
 * seen here: a disabled client must stay disabled.
 */
export function openPostgresCredentials(servers: Servers): CredentialStore {
  let seen = 0n
  /** Resolves with the result of work that began with the revision. */
  const noting = async <T>(work: Promise<{ readonly revision: bigint; readonly result: T }>) => {
    const { revision, result } = await work
    if (revision > seen) seen = revision
    return result
  }
  const write = transactOn(servers)
  const listening = new Set<() => void>()
  const methods = openCredentials({
    ...rowsOf(servers),
    dialect,
    waitMs: postgresLimits.databaseWaitMs,
    metrics: servers.metrics,
    numberSince,
    write: (work) => write(work),
    change: (work) =>
      noting(
        write(async (session) => ({
          // Locks the revision's row first, so that changes run one after another.
          revision: await revisionBy(session, RAISE),
          result: await work(session),
        })),
      ),
    read: (work) => {
      const readFrom = async (session: Session, atLeast: bigint) => {
        const revision = await revisionBy(session, READ)
        if (revision < atLeast) throw unavailable('the standby is behind what has been seen')
        return { revision, result: await work(session, revision) }
      }
      return noting(
        servers
          .onPrimary((connection) => readFrom(sessionOf(connection), 0n))
          .catch((error: unknown) => {
            if (!(error instanceof StoreUnavailable)) throw error
            return servers.read((connection) => readFrom(sessionOf(connection), seen))
          }),
      )
    },
    onChange: (run) => {
      // LISTEN is of a session, which no pooler keeps. The callers poll too.
      if (servers.pooler === 'transaction') return () => {}
      const notified = throttle(run, limits.databaseChangeRestMs)
      const stopListening = listen(servers, CHANGED, notified.run)
      const stop = () => {
        stopListening()
        notified.stop()
      }
      listening.add(stop)
      return () => {
        listening.delete(stop)
        stop()
      }
    },
  })
  return {
    ...methods,
    // Constraints prevent other faults. PostgreSQL checks its pages itself (data checksums).
    integrityFaults: async () => [],
    close: async () => {
      for (const stop of listening) stop()
      listening.clear()
    },
  }
}

/** The channel on which a change is notified. Listeners then read the revision. */
const CHANGED = 'bursar_credentials'

/** The timeline is the high bits, because a promoted standby may use the old primary's numbers. */
const TIMELINE_UNIT = 1n << 40n
const REVISION = `lineage.timeline * ${TIMELINE_UNIT} + revision.value as revision`

const READ = {
  text: `select ${REVISION} from bursar.credential_revision as revision, bursar.lineage`,
  prepare: true,
}
const RAISE = {
  text: `
    with revision as (update bursar.credential_revision set value = value + 1 returning value)
    select ${REVISION}, pg_notify('${CHANGED}', '') from revision, bursar.lineage`,
}

async function revisionBy(session: Session, statement: Statement): Promise<bigint> {
  const [row = {}] = await session.rows(statement)
  return whole(row, 'revision')
}

/**
 * The number after which rows have changed since a revision. Undefined if that revision is of
 * another timeline or of the future: then everything must be read.
 */
function numberSince(since: bigint | undefined, revision: bigint): bigint | undefined {
  if (since === undefined || since > revision) return undefined
  return since / TIMELINE_UNIT === revision / TIMELINE_UNIT ? since % TIMELINE_UNIT : undefined
}

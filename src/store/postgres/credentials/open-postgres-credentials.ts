import { openCredentials } from '../../credentials/open-credentials.ts'
import type { CredentialStore } from '../../credentials.ts'
import { listen } from '../cluster/listen.ts'
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import { rowsOf, sessionOf } from '../session.ts'
import { CHANGED, openCredentialChanges } from './credential-changes.ts'

/**
 * Stores credentials in PostgreSQL. The caller closes the servers. Only the refresh of states and
 * keys may read a standby, so every process sees a change of a client at once.
 */
export function openPostgresCredentials(servers: Servers): CredentialStore {
  const listening = new Set<() => void>()
  const methods = openCredentials({
    ...rowsOf(servers),
    ...openCredentialChanges(servers),
    tableName: dialect.tableName,
    write: (work) => inTransaction(servers, (connection) => work(sessionOf(connection))),
    onChange: (run) => {
      // LISTEN is of a session, which no pooler keeps. The callers poll too.
      if (servers.pooler === 'transaction') return () => {}
      const stop = listen(servers, CHANGED, run)
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

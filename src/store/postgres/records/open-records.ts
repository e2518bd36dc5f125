import type { Clock } from '../../../platform/clock.ts'
import type { OperatorDoor, Store } from '../../records.ts'
import { recordTables } from '../../sql/record-tables.ts'
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'
import { customerDoor } from './customer-records.ts'
import { exportLines } from './export.ts'
import { openLoad } from './load.ts'

export type RecordServers = {
  /** As role `bursar`. */
  readonly customers: Servers
  /** As role `bursar_operator`; for a process that only serves customers, the same as the customers'. */
  readonly operator: Servers
}

/** The records on PostgreSQL. The servers are opened, and closed, by whoever opened them. */
export function openPostgresStore({ customers, operator }: RecordServers, clock: Clock): Store {
  return {
    customers: customerDoor(customers),
    operator: operatorDoor(operator, clock),
    ping: async () => {
      await customers.read((connection) =>
        connection.query({ text: 'select 1 from bursar.fiat_account limit 1', prepare: true }),
      )
    },
    // PostgreSQL checks its pages itself (data checksums); indexes are checked by pg_amcheck, which needs a superuser.
    integrityFaults: async () => [],
    close: async () => {},
  }
}

function operatorDoor(servers: Servers, clock: Clock): OperatorDoor {
  return {
    beginLoad: (resource) => openLoad(servers, resource, clock),
    exportLines: (resource, customerId) => exportLines(servers, resource, customerId),
    count: async (resource) => {
      const [row] = await servers.query({ text: `select count(*) from bursar.${resource.table}` })
      return Number(row?.[0])
    },
    clear: () =>
      inTransaction(servers, async (connection) => {
        for (const table of recordTables) await connection.execute(`delete from bursar.${table}`)
        // A page that was held before must not pass for the one that comes after.
        await connection.execute('update bursar.revision set changed_at = changed_at + 1')
      }),
  }
}

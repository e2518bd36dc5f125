import type { Recovery, RecoveryStore } from '../../recovery.ts'
import { readRecovery, recoveryColumns } from '../../sql/recovery/recovery-rows.ts'
import type { Connection } from '../driver/connection.ts'
import type { CredentialChanges } from './credential-changes.ts'

/** Reads the row of the recovery in the caller's transaction. */
export async function findRecovery(connection: Connection): Promise<Recovery | undefined> {
  const [row] = await connection.rows({
    text: `select ${recoveryColumns} from bursar.recovery`,
    prepare: true,
  })
  return readRecovery(row)
}

export function recoveryMethods({ read, change }: CredentialChanges): RecoveryStore {
  const set = (column: 'clients_confirmed_at' | 'reconciled_at', at: bigint) =>
    change(async (connection) => {
      const text = `update bursar.recovery set ${column} = coalesce(${column}, $1::bigint)`
      await connection.rows({ text, values: [at] })
    })
  return {
    readRecovery: () => read(findRecovery),
    startRecovery: ({ restoredTo, restoredAt, quotesBefore }, notBefore) =>
      change(async (connection) => {
        await connection.execute('delete from bursar.recovery')
        await connection.rows({
          text: `insert into bursar.recovery (restored_to, restored_at, quotes_before)
            values ($1::bigint, $2::bigint, $3::bigint)`,
          values: [restoredTo, restoredAt, quotesBefore],
        })
        await connection.rows({
          text: 'update bursar.client set not_before = greatest(not_before, $1::bigint)',
          values: [notBefore],
        })
      }),
    confirmClients: (at) => set('clients_confirmed_at', at),
    endRecovery: (at) => set('reconciled_at', at),
  }
}

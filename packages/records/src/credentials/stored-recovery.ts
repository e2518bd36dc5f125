import type { Recovery, RecoveryStore } from '../credentials.ts'
import type { Dialect } from '../dialect.ts'
import { optionalWhole, whole } from '../row.ts'
import type { Session } from '../session.ts'
import type { CredentialSessions } from './credential-sessions.ts'

/** Reads the row of the recovery in the caller's transaction. */
export async function findRecovery(
  session: Session,
  tableName: Dialect['tableName'],
): Promise<Recovery | undefined> {
  const [row] = await session.rows({
    text: `select restored_to, restored_at, quotes_before, clients_confirmed_at,
        erasures_repeated_at, reconciled_at
      from ${tableName('recovery')}`,
    prepare: true,
  })
  // A store that was never restored has no row.
  return (
    row && {
      restoredTo: whole(row, 'restored_to'),
      restoredAt: whole(row, 'restored_at'),
      quotesBefore: whole(row, 'quotes_before'),
      clientsConfirmedAt: optionalWhole(row, 'clients_confirmed_at'),
      erasuresRepeatedAt: optionalWhole(row, 'erasures_repeated_at'),
      reconciledAt: optionalWhole(row, 'reconciled_at'),
    }
  )
}

type Noted = 'clients_confirmed_at' | 'erasures_repeated_at' | 'reconciled_at'

export function recoveryMethods({ read, change, dialect }: CredentialSessions): RecoveryStore {
  const { tableName } = dialect
  const [recovery, clients] = [tableName('recovery'), tableName('client')]
  const set = (column: Noted, at: bigint) =>
    change(async (session) => {
      const text = `update ${recovery} set ${column} = $1 where ${column} is null`
      await session.rows({ text, values: [at] })
    })
  return {
    readRecovery: () => read((session) => findRecovery(session, tableName)),
    startRecovery: ({ restoredTo, restoredAt, quotesBefore }, notBefore) =>
      change(async (session) => {
        await session.rows({ text: `delete from ${recovery}` })
        await session.rows({
          text: `insert into ${recovery} (restored_to, restored_at, quotes_before)
            values ($1, $2, $3)`,
          values: [restoredTo, restoredAt, quotesBefore],
        })
        await session.rows({
          text: `update ${clients} set not_before = $1 where not_before < $1`,
          values: [notBefore],
        })
      }),
    confirmClients: (at) => set('clients_confirmed_at', at),
    noteErasuresRepeated: (at) => set('erasures_repeated_at', at),
    endRecovery: (at) => set('reconciled_at', at),
  }
}

import type { DatabaseSync } from 'node:sqlite'
import type { FeeQuote } from '../../fee-quotes.ts'
import type { Recovery, RecoveryStore } from '../../recovery.ts'
import { quoteColumns, readQuote } from '../../sql/fee-quotes/fee-quote-rows.ts'
import { readRecovery, recoveryColumns } from '../../sql/recovery/recovery-rows.ts'
import { optionalWhole } from '../../sql/row.ts'
import { readMigrations } from '../../sql/schema/migration.ts'
import { prepare } from '../database.ts'

export const recoveryMigrations = readMigrations(
  new URL('../migrations/recovery/', import.meta.url),
  ['0001-recovery.sql'],
)

/** Reads the row of the recovery. Credentials and quotes share a file, and so this table. */
export function openRecovery(db: DatabaseSync): () => Recovery | undefined {
  const statement = prepare(db, `select ${recoveryColumns} from recovery`)
  return () => readRecovery(statement.get())
}

type Run = <T>(work: () => T) => Promise<T>

/** A `change` runs in a transaction that has bumped the revision. */
export function recoveryMethods(
  db: DatabaseSync,
  read: () => Recovery | undefined,
  { read: run, change }: { readonly read: Run; readonly change: Run },
): RecoveryStore {
  const start = db.prepare('insert or replace into recovery values (1, ?, ?, ?, null, null)')
  const revokeTokens = db.prepare(
    'update client set not_before = max(not_before, ?), revision = (select value from revision)',
  )
  const confirm = db.prepare(
    'update recovery set clients_confirmed_at = coalesce(clients_confirmed_at, ?)',
  )
  const end = db.prepare('update recovery set reconciled_at = coalesce(reconciled_at, ?)')
  return {
    readRecovery: () => run(read),
    startRecovery: ({ restoredTo, restoredAt, quotesBefore }, notBefore) =>
      change(() => {
        start.run(restoredTo, restoredAt, quotesBefore)
        revokeTokens.run(notBefore)
      }),
    confirmClients: (at) => change(() => void confirm.run(at)),
    endRecovery: (at) => change(() => void end.run(at)),
  }
}

/** The newest quote, and the quotes that a lost consumption may have taken. */
export function openRestoredQuotes(db: DatabaseSync) {
  const newest = prepare(db, 'select max(created_at) as created_at from fee_quote')
  const uncertain = prepare(
    db,
    `select ${quoteColumns} from fee_quote
     where consumed_at is null and created_at < ? and expires_at > ? order by id limit ?`,
  )
  return {
    newestCreation: (): bigint | undefined => optionalWhole(newest.get() ?? {}, 'created_at'),
    uncertain: (recovery: Recovery, rowsMax: number): readonly FeeQuote[] => {
      const { quotesBefore, restoredTo } = recovery
      return uncertain.all(quotesBefore, restoredTo, rowsMax).map(readQuote)
    },
  }
}

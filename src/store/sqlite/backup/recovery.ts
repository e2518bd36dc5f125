import type { DatabaseSync } from 'node:sqlite'
import { readRecovery, recoveryColumns } from '../../credentials/recovery-rows.ts'
import type { FeeQuote } from '../../fee-quotes.ts'
import type { Recovery } from '../../recovery.ts'
import { optionalWhole } from '../../row.ts'
import { quoteColumns, readQuote } from '../../sql/fee-quotes/fee-quote-rows.ts'
import { prepare } from '../database.ts'

/** Reads the row of the recovery. Credentials and quotes share a file, and so this table. */
export function openRecovery(db: DatabaseSync): () => Recovery | undefined {
  const statement = prepare(db, `select ${recoveryColumns} from recovery`)
  return () => readRecovery(statement.get())
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

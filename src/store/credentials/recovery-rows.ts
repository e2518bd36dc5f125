import type { Recovery } from '../recovery.ts'
import { type NamedRow, optionalWhole, whole } from '../row.ts'

/** The columns of table `recovery` that `readRecovery` reads. */
export const recoveryColumns =
  'restored_to, restored_at, quotes_before, clients_confirmed_at, reconciled_at'

/** Undefined for a store that was never restored, which has no row. */
export const readRecovery = (row: NamedRow | undefined): Recovery | undefined =>
  row && {
    restoredTo: whole(row, 'restored_to'),
    restoredAt: whole(row, 'restored_at'),
    quotesBefore: whole(row, 'quotes_before'),
    clientsConfirmedAt: optionalWhole(row, 'clients_confirmed_at'),
    reconciledAt: optionalWhole(row, 'reconciled_at'),
  }

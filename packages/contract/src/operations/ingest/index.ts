import type { Operation } from '../../operation.ts'
import { consumeWithdrawalFee } from './consume-withdrawal-fee.ts'
import { getAttention } from './get-attention.ts'
import { getCaller } from './get-caller.ts'
import { getHealth } from './get-health.ts'
import { getWithdrawalFee } from './get-withdrawal-fee.ts'
import { listChanges } from './list-changes.ts'
import { listCustomers } from './list-customers.ts'
import { listLatestChanges } from './list-latest-changes.ts'
import { getRecordReads } from './list-record-reads.ts'
import { listAllRecords } from './listed-records.ts'
import { getRecordHistories, listPastRecords } from './record-histories.ts'
import { cancelImport, getImport, listImports } from './registered-imports.ts'
import { searchRecords } from './search-records.ts'
import { deleteRecords, getStoredRecords, postRecords, putRecords } from './stored-records.ts'

/** Every operation of the operator's own systems. */
export const ingestOperations: readonly Operation[] = [
  ...putRecords,
  ...getStoredRecords,
  ...deleteRecords,
  ...postRecords,
  ...getRecordHistories,
  ...getRecordReads,
  ...listPastRecords,
  listCustomers,
  ...listAllRecords,
  listChanges,
  listLatestChanges,
  searchRecords,
  getAttention,
  getWithdrawalFee,
  consumeWithdrawalFee,
  listImports,
  getImport,
  cancelImport,
  getHealth,
  getCaller,
]

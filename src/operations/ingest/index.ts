import type { IngestOperation } from '../../contract/operation.ts'
import { consumeWithdrawalFee } from './consume-withdrawal-fee.ts'
import { getStoredRecords } from './get-stored-records.ts'
import { getWithdrawalFee } from './get-withdrawal-fee.ts'

/** Every operation of the operator's own systems. */
export const ingestOperations: readonly IngestOperation[] = [
  consumeWithdrawalFee,
  getWithdrawalFee,
  ...getStoredRecords,
]

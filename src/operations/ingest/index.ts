import type { IngestOperation } from '../../contract/operation.ts'
import { consumeWithdrawalFee } from './consume-withdrawal-fee.ts'

/** Every operation of the operator's own systems. */
export const ingestOperations: readonly IngestOperation[] = [consumeWithdrawalFee]

import type { Problem } from '../../contract/problem.ts'
import { type FoundInAll, type HttpFault, refusedRecords } from '../refused-records.ts'

/** The refusal of a record or of a stream that a client of the operator has sent. */
export const refused = (faults: readonly HttpFault[], found?: FoundInAll): Problem =>
  refusedRecords(faults, 'must be the customer that the client is bound to', found)

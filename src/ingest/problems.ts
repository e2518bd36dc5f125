import type { Problem } from '../contract/problem.ts'
import { type HttpFault, refusedRecords } from '../intake/refused-records.ts'

/** The refusal of a record or of a stream that a client of the operator has sent. */
export const refused = (faults: readonly HttpFault[], faultCount?: number): Problem =>
  refusedRecords(faults, 'must be the customer that the client is bound to', faultCount)

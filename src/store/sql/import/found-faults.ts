import assert from 'node:assert/strict'
import { type RecordFaultCode, recordFaultCodes } from '../../../contract/fault-codes.ts'
import type { RecordFault } from '../../../contract/resource.ts'
import { limits } from '../../../platform/limits.ts'
import type { LineFault } from '../../records/import.ts'

/** The first rows of a conflict query. Where there are as many as that, `countConflicts` counts. */
export const firstConflicts = (query: string): string =>
  `select line, member, code, reason from (${query}) as found
   order by line limit ${limits.faultsReportedMax}`

export const countConflicts = (query: string): string =>
  `select count(*) as conflicts from (${query}) as found`

/** A fault as the texts of a row. */
export function readFault(member: unknown, code: unknown, reason: unknown): RecordFault {
  const name = String(code)
  assert(isCode(name), `a conflict query has the code ${name}`)
  return { member: String(member), code: name, reason: String(reason) }
}

const isCode = (name: string): name is RecordFaultCode => Object.hasOwn(recordFaultCodes, name)

export const isCutOff = (faults: readonly LineFault[]): boolean =>
  faults.length === limits.faultsReportedMax

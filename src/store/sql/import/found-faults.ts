import { limits } from '../../../platform/limits.ts'
import type { LineFault } from '../../records/import.ts'

/** The first rows of a conflict query. Where there are as many as that, `countConflicts` counts. */
export const firstConflicts = (query: string): string =>
  `select line, member, reason from (${query}) as found
   order by line limit ${limits.faultsReportedMax}`

export const countConflicts = (query: string): string =>
  `select count(*) as conflicts from (${query}) as found`

export const isCutOff = (faults: readonly LineFault[]): boolean =>
  faults.length === limits.faultsReportedMax

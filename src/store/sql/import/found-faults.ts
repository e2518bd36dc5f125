import { limits } from '../../../platform/limits.ts'
import type { FoundFaults, LineFault } from '../../records.ts'

export const noFaults: FoundFaults = { faults: [], faultCount: 0 }

/** The faults of several queries as one, the first lines first. */
export const joinFaults = (found: readonly FoundFaults[]): FoundFaults => ({
  faults: found
    .flatMap(({ faults }) => faults)
    .toSorted((a, b) => a.line - b.line)
    .slice(0, limits.faultsReportedMax),
  faultCount: found.reduce((sum, { faultCount }) => sum + faultCount, 0),
})

/** The first rows of a conflict query. Where there are as many as that, `countConflicts` counts. */
export const firstConflicts = (query: string): string =>
  `select line, member, reason from (${query}) as found
   order by line limit ${limits.faultsReportedMax}`

export const countConflicts = (query: string): string =>
  `select count(*) as conflicts from (${query}) as found`

export const isCutOff = (faults: readonly LineFault[]): boolean =>
  faults.length === limits.faultsReportedMax

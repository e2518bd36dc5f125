import { limits } from '../platform/limits.ts'
import type { FoundFaults } from './records/import.ts'

export const noFaults: FoundFaults = { faults: [], faultCount: 0 }

/** The faults of several searches as one, the first lines first. */
export const joinFaults = (found: readonly FoundFaults[]): FoundFaults => ({
  faults: found
    .flatMap(({ faults }) => faults)
    .toSorted((a, b) => a.line - b.line)
    .slice(0, limits.faultsReportedMax),
  faultCount: found.reduce((sum, { faultCount }) => sum + faultCount, 0),
})

import type { Resource } from '@bursar/contract'
import { type DerivedFault, recordsLimits, StoreDamaged, type StoredRows } from '@bursar/records'
import { compareKind, compareOwners } from './compare-kind.ts'
import { cannotReadOn, describeAll, describeDamaged } from './describe-faults.ts'

/**
 * `faults` names the first damaged records by kind and id, and no value; the rest are counted.
 * `conflicts` are the first records that have a value of another customer, as lines.
 */
export type StoredReport = {
  readonly records: number
  readonly faultCount: number
  readonly faults: readonly string[]
  readonly conflicts: readonly string[]
}

type FaultList = { faultCount: number; readonly faults: string[] }

/** The named faults as lines, and how many more there are. */
export function listFaults({
  faults,
  faultCount,
}: Pick<StoredReport, 'faults' | 'faultCount'>): string {
  const rest = faultCount - faults.length
  return [...faults, ...(rest === 0 ? [] : [`and ${rest} more`])].join('\n')
}

/**
 * Checks every stored record of the kinds. Its bodies must match their checksums. Both bodies, the
 * filter columns and the sort key must be what an import of the full record would store, and so
 * must unique claims, terms and counts. Memory use does not grow with the store. Sealed bodies are
 * left out where their keys are not at hand.
 */
export async function checkStored(
  resources: readonly Resource[],
  rows: StoredRows,
  opens = true,
): Promise<StoredReport> {
  const report = { records: 0, faultCount: 0, faults: [] as string[] }
  const conflicts = { faultCount: 0, faults: [] as string[] }
  const note = (fault: string, list: FaultList = report) => {
    list.faultCount += 1
    if (list.faults.length < recordsLimits.faultsReportedMax) list.faults.push(fault)
  }
  const withConflicts = () => {
    const lines = conflicts.faultCount === 0 ? [] : listFaults(conflicts).split('\n')
    return { ...report, conflicts: lines }
  }
  for (const resource of resources) {
    try {
      for await (const part of compareKind(resource, rows, { opens })) {
        report.records += part.records
        for (const one of part.damaged) note(describeDamaged(one))
        const [shared, others] = split(part.derived, isConflict)
        for (const line of describeAll(others)) note(line)
        for (const line of describeAll(shared)) note(line, conflicts)
      }
    } catch (error) {
      if (!(error instanceof StoreDamaged)) throw error
      note(cannotReadOn(resource.kind, error))
    }
  }
  // A binding takes a key, as a sealed body does.
  if (!opens) return withConflicts()
  for await (const { damaged } of compareOwners(rows)) {
    for (const one of damaged) note(describeDamaged(one))
  }
  return withConflicts()
}

/** Each customer has what it claims; a person decides whose the value is. */
const isConflict = (fault: DerivedFault): boolean =>
  fault.fault === 'contested' && fault.holder !== undefined

function split<T>(all: readonly T[], isFirst: (one: T) => boolean): [first: T[], others: T[]] {
  const parts = Map.groupBy(all, isFirst)
  return [parts.get(true) ?? [], parts.get(false) ?? []]
}

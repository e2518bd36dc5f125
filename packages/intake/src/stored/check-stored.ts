import type { Resource } from '@bursar/contract'
import { type DerivedFault, recordsLimits, StoreDamaged, type StoredRows } from '@bursar/records'
import { compareKind, compareOwners } from './compare-kind.ts'
import { cannotReadOn, describeAll, describeDamaged, split } from './describe-faults.ts'

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

type NamedFaults = Pick<StoredReport, 'faults' | 'faultCount'>

const emptyList = (): FaultList => ({ faultCount: 0, faults: [] })

/** The named faults as lines, and how many more there are. */
function faultLines({ faults, faultCount }: NamedFaults): readonly string[] {
  const rest = faultCount - faults.length
  return [...faults, ...(rest === 0 ? [] : [`and ${rest} more`])]
}

export const listFaults = (named: NamedFaults): string => faultLines(named).join('\n')

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
  let records = 0
  const [report, conflicts] = [emptyList(), emptyList()]
  const note = (lines: readonly string[], list = report) => {
    list.faultCount += lines.length
    list.faults.push(...lines.slice(0, recordsLimits.faultsReportedMax - list.faults.length))
  }
  for (const resource of resources) {
    try {
      for await (const part of compareKind(resource, rows, { opens })) {
        const [shared, others] = split(part.derived, isConflict)
        records += part.records
        note([...part.damaged.map(describeDamaged), ...describeAll(others)])
        note(describeAll(shared), conflicts)
      }
    } catch (error) {
      if (!(error instanceof StoreDamaged)) throw error
      note([cannotReadOn(resource.kind, error)])
    }
  }
  // A binding takes a key, as a sealed body does.
  for await (const { damaged } of opens ? compareOwners(rows) : []) {
    note(damaged.map(describeDamaged))
  }
  return { records, ...report, conflicts: faultLines(conflicts) }
}

/** Each customer has what it claims; a person decides whose the value is. */
const isConflict = (fault: DerivedFault): boolean =>
  fault.fault === 'contested' && fault.holder !== undefined

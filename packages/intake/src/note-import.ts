import { counted } from '@bursar/base'
import { Problem } from '@bursar/contract'
import {
  ImportCancelled,
  type ImportCounts,
  type ImportFailure,
  type LineFault,
  StoreUnavailable,
} from '@bursar/records'

type Reported = ImportCounts & {
  readonly faultCount: number
  readonly faults: readonly Pick<LineFault, 'line' | 'code'>[]
}

/** The counts of a report, for the row of an import. */
export const countsOf = (report: ImportCounts): ImportCounts => {
  const { records, added, changed, unchanged, rejected, withdrawn } = report
  return { records, added, changed, unchanged, rejected, withdrawn }
}

/** What the row keeps of a report with faults: no member and no value of them. */
export function failureOfReport({ faultCount, faults }: Reported): ImportFailure {
  const [first] = faults
  const place = first === undefined || first.line === 0 ? '' : ` in line ${first.line}`
  const named = first === undefined ? '' : `; the first${place}: ${first.code}`
  return { state: 'refused', reason: `${counted(faultCount, 'fault')}${named}` }
}

/** What the row keeps of an error. The message of an unknown one may quote anything. */
export function failureOfError(error: unknown): ImportFailure {
  if (error instanceof ImportCancelled) return { state: 'cancelled', reason: error.message }
  if (error instanceof Problem) return { state: 'refused', reason: error.detail }
  const reason =
    error instanceof StoreUnavailable
      ? 'the store could not be reached or was locked; the process that ran the import says why'
      : 'an error that was not expected; the process that ran the import says which'
  return { state: 'refused', reason }
}

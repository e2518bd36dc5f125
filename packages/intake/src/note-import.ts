import { counted } from '@bursar/base'
import { Problem } from '@bursar/contract'
import {
  ImportCancelled,
  type ImportCounts,
  type ImportOutcome,
  type LineFault,
  type OnStep,
  type RunningImport,
  StoreUnavailable,
} from '@bursar/records'

/** What an import tells of itself, for its entry in the registry. */
export const notesOf = (running: Pick<RunningImport, 'enter' | 'wait' | 'progress'>) => ({
  onProgress: running.progress,
  onStep: ((step) =>
    step === 'checking' || step === 'merging'
      ? running.enter(step)
      : running.wait(step)) satisfies OnStep,
})

type Reported = ImportCounts & {
  readonly faultCount: number
  readonly faults: readonly Pick<LineFault, 'line' | 'code'>[]
}

/** What the registry keeps of a report: counts, and of faults no member and no value. */
export function outcomeOfReport(report: Reported, isDryRun: boolean): ImportOutcome {
  const { added, changed, unchanged, rejected, withdrawn, faultCount, faults } = report
  if (faultCount === 0) {
    const counts = { added, changed, unchanged, rejected, withdrawn }
    return { state: isDryRun ? 'checked' : 'stored', counts }
  }
  const [first] = faults
  const place = first === undefined || first.line === 0 ? '' : ` in line ${first.line}`
  const named = first === undefined ? '' : `; the first${place}: ${first.code}`
  return { state: 'refused', reason: `${counted(faultCount, 'fault')}${named}` }
}

/** What the registry keeps of an error. The message of an unknown one may quote anything. */
export function outcomeOfError(error: unknown): ImportOutcome {
  if (error instanceof ImportCancelled) return { state: 'cancelled', reason: error.message }
  if (error instanceof Problem) {
    const isRefusal = error.status < 500 && error.status !== 408
    return { state: isRefusal ? 'refused' : 'failed', reason: error.detail }
  }
  const reason =
    error instanceof StoreUnavailable
      ? 'the store could not be reached or was locked; the process that ran the import says why'
      : 'an error that was not expected; the process that ran the import says which'
  return { state: 'failed', reason }
}

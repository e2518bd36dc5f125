import { limitsOf } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import {
  type FoundFaults,
  joinFaults,
  type LineFault,
  type MergeOptions,
  type MergeOrigin,
  type MergeReport,
  noFaults,
  recordsLimits,
  type Store,
  type StoredOutcome,
} from '@bursar/records'
import { recordCheck } from '../check.ts'
import type { Entry } from '../entry.ts'
import type { Oddity } from '../odd-values.ts'
import { openFileLines } from './file-lines.ts'
import {
  faultsOfForm,
  faultsOfRejected,
  type InputFile,
  type InputOrigin,
  type Staged,
  type StageOptions,
  stageFile,
} from './stage-file.ts'

const limits = limitsOf({
  /** A refused stream with more records is not compared with the store, which takes the loop. */
  conflictsSearchedRecordsMax: 200,
})

export type ImportOptions = StageOptions &
  Pick<MergeOptions, 'onStep'> & {
    /** What the row of the import gets in the transaction of the merge. */
    readonly row?: ((report: ImportReport) => StoredOutcome) | undefined
  }

/** `file` is the number of the fault's file, where there are several. */
export type ImportFault = LineFault & { readonly file?: number }

/** What may be right, and what somebody should look at. */
export type ImportWarning = Oddity & Pick<ImportFault, 'line' | 'file'>

export type FileReport = {
  readonly records: number
  readonly rejected: number
  /** Rows whose cells are all empty, which were skipped. */
  readonly blankRows: number
  /** Unknown where the file could not be read to its end. */
  readonly sha256: string | undefined
}

export type ImportReport = Omit<MergeReport, 'faults'> & {
  readonly faults: readonly ImportFault[]
  /** Whether the search for faults ended before all of them were found. */
  readonly mayHaveMoreFaults: boolean
  readonly records: number
  readonly files: readonly FileReport[]
  /** The first of them, and how many there are. */
  readonly warnings: readonly ImportWarning[]
  readonly warningCount: number
}

export type EntryOptions = ImportOptions & Pick<InputFile, 'origin'>

/** Imports one file, as `importFiles` does. */
export const importEntries = (
  store: Pick<Store, 'operator'>,
  resource: Resource,
  entries: AsyncIterable<Entry>,
  { origin, ...options }: EntryOptions,
): Promise<ImportReport> => importFiles(store, resource, [{ entries, origin }], options)

/**
 * Stages every record of the files and merges all in one transaction. Without `reject`, a single
 * fault prevents the merge, and the report has the faults of form and the conflicts with stored
 * records.
 */
export async function importFiles(
  store: Pick<Store, 'operator'>,
  resource: Resource,
  inputs: readonly InputFile[],
  options: ImportOptions,
): Promise<ImportReport> {
  const { dryRun, allowOlder, takeOver, row, isInServer = false, reject, signal } = options
  const names = inputs.map(({ origin }) =>
    origin !== undefined && 'file' in origin ? origin.file : '-',
  )
  const lines = openFileLines(names)
  const load = await store.operator.beginLoad(resource, { ...options, nameLine: lines.nameOf })
  try {
    const staging = { load, check: recordCheck(resource, options.rules), lines, resource, options }
    const files: Staged[] = []
    for (const input of inputs) {
      if (files.at(-1)?.isCutOff === true) break
      files.push(await stageFile(staging, input, files))
    }
    signal?.throwIfAborted()
    const records = files.reduce((sum, file) => sum + file.records, 0)
    const ofForm = faultsOfForm(files, records, lines, options)
    const placed = <T extends { readonly line: number }>(
      found: T,
    ): T & { readonly file?: number } =>
      inputs.length === 1 ? found : { ...found, ...lines.placeOf(found.line) }
    const inPlace = (ofStore: FoundFaults) => {
      const { faults, faultCount } = joinFaults([ofForm, ofStore])
      const oddities = files.flatMap((file) => file.oddities)
      return {
        faults: faults.map(placed),
        faultCount,
        warnings: oddities.slice(0, recordsLimits.faultsReportedMax).map(placed),
        warningCount: files.reduce((sum, { oddityCount }) => sum + oddityCount, 0),
      }
    }
    if (ofForm.faultCount > 0) {
      const isWhole = files.every((file) => file.isWhole) && reject === undefined
      const isSmall = !isInServer || records <= limits.conflictsSearchedRecordsMax
      const conflicts = isWhole && isSmall ? await load.check({ allowOlder, takeOver }) : noFaults
      const mayHaveMoreFaults = files.some(({ isCutOff }) => isCutOff) || (isWhole && !isSmall)
      return {
        ...inPlace(conflicts),
        mayHaveMoreFaults,
        rejected: 0,
        withdrawn: 0,
        records,
        ...nothing,
        files,
      }
    }
    options.onMerge?.()
    const origins = inputs.flatMap(({ origin }, at) =>
      origin === undefined
        ? []
        : [{ from: originOf(origin), linesBefore: lines.numberOf({ file: at, line: 0 }) }],
    )
    const complete = (ofMerge: MergeReport): ImportReport => {
      const rejected = files.reduce((sum, file) => sum + file.rejected, 0)
      const stored = ofMerge.added + ofMerge.changed
      const unchanged = ofMerge.faultCount > 0 ? 0 : records - rejected - stored
      const found = { ...inPlace(ofMerge), mayHaveMoreFaults: false }
      return { ...ofMerge, ...found, records, rejected, unchanged, files }
    }
    const merged = await load.merge({
      dryRun,
      allowOlder,
      takeOver,
      onStep: options.onStep,
      row: row && ((ofMerge) => row(complete(ofMerge))),
      origins: origins.length === inputs.length ? origins : undefined,
      reject:
        reject &&
        (({ line, ...rest }) => {
          const place = lines.placeOf(line)
          const file = files[place.file]
          if (file !== undefined) file.rejected += 1
          reject({ ...rest, ...place })
        }),
      rejectedFaults: () => faultsOfRejected(files, options),
    })
    return complete(merged)
  } finally {
    await load.close()
  }
}

function originOf(origin: InputOrigin): MergeOrigin['from'] {
  if ('clientId' in origin) return origin
  const { file, user, sudoUser } = origin
  return { file, user, sudoUser }
}

const nothing = { added: 0, changed: 0, unchanged: 0 } as const

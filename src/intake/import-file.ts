import type { RecordFault, RecordRules, Resource } from '../contract/resource.ts'
import { limits } from '../platform/limits.ts'
import { joinFaults, noFaults } from '../store/found-faults.ts'
import type {
  FoundFaults,
  ImportOrigin,
  LineFault,
  MergeOptions,
  MergeReport,
  RecordLoad,
  StorableRecord,
  Store,
} from '../store/records.ts'
import { type RecordCheck, recordCheck } from './check.ts'
import { type FileLines, openFileLines, type Place } from './file-lines.ts'
import { type Expected, inputFaults } from './input-faults.ts'
import { type Entry, UnreadableFile } from './lines.ts'
import { renderRecord } from './render.ts'

export type ImportOptions = Pick<MergeOptions, 'dryRun' | 'allowOlder'> & {
  readonly expected?: Expected
  /** The customer of records without a `customer_id`. Naming another customer is a fault. */
  readonly customerId?: string | undefined
  readonly rules: RecordRules
  /** The size of files that are not compressed. The store checks that it has space for them. */
  readonly fileBytes?: number | undefined
  readonly onProgress?: (records: number) => void
  /** Called when every record was read and the transaction begins. */
  readonly onMerge?: (() => void) | undefined
  /** Takes each record with a fault, and the others are stored. Without it, none is. */
  readonly reject?: ((rejected: RejectedLine) => void) | undefined
}

/** A record that is left out, as it came. */
export type RejectedLine = Place & {
  readonly raw: string | Uint8Array
  readonly faults: readonly RecordFault[]
}

export type InputFile = {
  readonly entries: AsyncIterable<Entry>
  /** Who imports it. Without it, the journal gets no entry. */
  readonly origin?: InputOrigin | undefined
}

/** The checksum is known when all of the file was read. */
export type InputOrigin = Omit<ImportOrigin, 'sha256'> & { readonly sha256: () => Promise<string> }

/** `file` is the number of the fault's file, where there are several. */
export type ImportFault = LineFault & { readonly file?: number }

export type FileReport = {
  readonly records: number
  readonly rejected: number
  /** Unknown where the file could not be read to its end. */
  readonly sha256: string | undefined
}

export type ImportReport = Omit<MergeReport, 'faults'> & {
  readonly faults: readonly ImportFault[]
  readonly records: number
  readonly files: readonly FileReport[]
}

export type EntryOptions = ImportOptions & Pick<InputFile, 'origin'>

/** Imports one file, as `importFiles` does. */
export const importEntries = (
  store: Store,
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
  store: Store,
  resource: Resource,
  inputs: readonly InputFile[],
  options: ImportOptions,
): Promise<ImportReport> {
  const { dryRun, allowOlder, reject } = options
  const names = inputs.map(({ origin }) => origin?.file ?? '-')
  const lines = openFileLines(names)
  const load = await store.operator.beginLoad(resource, options.fileBytes)
  try {
    const staging = { load, check: recordCheck(resource, options.rules), lines, resource, options }
    const files: Staged[] = []
    for (const input of inputs) files.push(await stageFile(staging, input, files))
    const records = files.reduce((sum, file) => sum + file.records, 0)
    const ofForm = faultsOfForm(files, records, lines, options)
    // Only reasons of the store name lines in this way; another one may quote the file.
    const inPlace = (ofStore: FoundFaults) => {
      const readable = { ...ofStore, faults: ofStore.faults.map(lines.readable) }
      const { faults, faultCount } = joinFaults([ofForm, readable])
      const placed = (fault: LineFault): ImportFault =>
        inputs.length === 1 ? fault : { ...fault, ...lines.placeOf(fault.line) }
      return { faults: faults.map(placed), faultCount }
    }
    if (ofForm.faultCount > 0) {
      const conflicts = files.every(({ isWhole }) => isWhole) && reject === undefined
      const found = inPlace(conflicts ? await load.check({ allowOlder }) : noFaults)
      return { ...found, rejected: 0, records, ...nothing, files }
    }
    options.onMerge?.()
    const origins = inputs.flatMap(({ origin }, at) =>
      origin === undefined ? [] : [{ ...origin, sha256: files[at]?.sha256 ?? '' }],
    )
    const merged = await load.merge({
      dryRun,
      allowOlder,
      origins: origins.length === inputs.length ? origins : undefined,
      reject:
        reject &&
        (({ line, ...rest }) => {
          const place = lines.placeOf(line)
          const file = files[place.file]
          if (file !== undefined) file.rejected += 1
          reject({ ...rest, ...place, faults: rest.faults.map(lines.readable) })
        }),
    })
    const rejected = files.reduce((sum, file) => sum + file.rejected, 0)
    const stored = merged.added + merged.changed
    const unchanged = merged.faultCount > 0 ? 0 : records - rejected - stored
    return { ...merged, ...inPlace(merged), records, rejected, unchanged, files }
  } finally {
    await load.close()
  }
}

const nothing = { added: 0, changed: 0, unchanged: 0 } as const

type Staging = {
  readonly load: RecordLoad
  readonly check: RecordCheck
  readonly lines: FileLines
  readonly resource: Resource
  readonly options: ImportOptions
}

type Staged = {
  /** Whether the input could be read to its end. */
  isWhole: boolean
  records: number
  rejected: number
  sha256: string | undefined
  faultCount: number
  /** With the numbers of their lines. */
  faults: LineFault[]
}

async function stageFile(
  { load, check, lines, resource, options }: Staging,
  { entries, origin }: InputFile,
  before: readonly Staged[],
): Promise<Staged> {
  const { customerId, onProgress, reject } = options
  const recordsBefore = before.reduce((sum, { records }) => sum + records, 0)
  const staged: Staged = {
    ...{ isWhole: true, records: 0, rejected: 0, sha256: undefined },
    ...{ faultCount: 0, faults: [] },
  }
  const file = before.length
  try {
    for await (const entry of entries) {
      staged.records += 1
      onProgress?.(recordsBefore + staged.records)
      const line = lines.numberOf({ file, line: entry.line })
      const read = readEntry(resource, check, entry, customerId)
      if ('record' in read) {
        const raw = reject && textOf(entry.raw ?? '')
        const drained = load.stage({ ...read.record, line, file, raw })
        if (drained !== undefined) await drained
      } else if (reject === undefined) noteFaults(staged, line, read.faults)
      else {
        staged.rejected += 1
        reject({ file, line: entry.line, raw: entry.raw ?? '', faults: read.faults })
      }
    }
    staged.sha256 = await origin?.sha256()
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    staged.isWhole = false
    const reason = [{ member: 'file', reason: error.message }]
    noteFaults(staged, lines.numberOf({ file, line: error.line }), reason)
  }
  lines.endFile()
  return staged
}

const textOf = (raw: string | Uint8Array): string =>
  typeof raw === 'string' ? raw : Buffer.from(raw).toString('utf8')

/** The faults of the records and of whole files, with the numbers of their lines. */
function faultsOfForm(
  files: readonly Staged[],
  records: number,
  lines: FileLines,
  { expected = {} }: ImportOptions,
): FoundFaults {
  const areWhole = files.every(({ isWhole }) => isWhole)
  const { records: expectedRecords, sha256 } = expected
  const mayBeEmpty = expected.mayBeEmpty === true || expectedRecords !== undefined
  const found = files.flatMap((read, file) => {
    const line = lines.numberOf({ file, line: 0 })
    const faults = read.isWhole ? inputFaults(read, { sha256, mayBeEmpty }) : []
    return faults.map((fault) => ({ ...fault, line }))
  })
  const ofCount =
    areWhole && expectedRecords !== undefined
      ? inputFaults({ records, sha256: undefined }, { records: expectedRecords })
      : []
  const ofInput = [...ofCount, ...found]
  return {
    faults: [...ofInput, ...files.flatMap(({ faults }) => faults)],
    faultCount: ofInput.length + files.reduce((sum, { faultCount }) => sum + faultCount, 0),
  }
}

function readEntry(
  resource: Resource,
  check: RecordCheck,
  entry: Entry,
  customerId: string | undefined,
): { readonly faults: readonly RecordFault[] } | { readonly record: StorableRecord } {
  if ('reason' in entry) return { faults: [{ member: 'record', reason: entry.reason }] }
  const { line, value } = entry
  const checked = check(customerId === undefined ? value : ofCustomer(value, customerId))
  if ('faults' in checked) return checked
  if (customerId !== undefined && checked.record.customer_id !== customerId) {
    const reason = 'must be the customer that --customer names'
    return { faults: [{ member: 'customer_id', reason }] }
  }
  return { record: renderRecord(resource, checked.record, line) }
}

function ofCustomer(value: unknown, customerId: string): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? { customer_id: customerId, ...value } : value
}

function noteFaults(staged: Staged, line: number, faults: readonly RecordFault[]): void {
  staged.faultCount += faults.length
  const room = limits.faultsReportedMax - staged.faults.length
  staged.faults.push(...faults.slice(0, room).map((fault) => ({ ...fault, line })))
}

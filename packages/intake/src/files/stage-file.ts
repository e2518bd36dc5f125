import { counted } from '@bursar/base'
import type { RecordFault, RecordRules, Resource } from '@bursar/contract'
import {
  type ClientOrigin,
  type FoundFaults,
  type ImportOrigin,
  type LineFault,
  type LoadOptions,
  type MergeOptions,
  noFaults,
  type RecordLoad,
  recordsLimits,
} from '@bursar/records'
import type { RecordCheck } from '../check.ts'
import type { Entry } from '../entry.ts'
import type { Oddity } from '../odd-values.ts'
import { readRecord } from '../read-record.ts'
import type { FileLines, Place } from './file-lines.ts'
import { UnreadableFile } from './reading/lines.ts'

export type StageOptions = Pick<MergeOptions, 'dryRun' | 'allowOlder' | 'takeOver'> &
  LoadOptions & {
    readonly expected?: Expected
    /** The customer of records without a `customer_id`. Naming another customer is a fault. */
    readonly customerId?: string | undefined
    readonly rules: RecordRules
    /** Reading ends at so many faults, unless there is `reject`. */
    readonly faultsMax?: number
    readonly onProgress?: ((records: number) => void) | undefined
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
  /** How many rows without a record were skipped. For after the last entry. */
  readonly blankRows?: () => number
  readonly entries: AsyncIterable<Entry>
  /** Who imports it. */
  readonly origin?: InputOrigin | undefined
}

/** The checksum is known when all of the file was read. */
export type InputOrigin = ClientOrigin | (ImportOrigin & { readonly sha256: () => Promise<string> })

export type Staging = {
  readonly load: RecordLoad
  readonly check: RecordCheck
  readonly lines: FileLines
  readonly resource: Resource
  readonly options: StageOptions
}

export type LineOddity = Oddity & { readonly line: number }

export type Staged = {
  /** Whether the input could be read to its end, and if not, whether its faults are too many. */
  isWhole: boolean
  isCutOff: boolean
  records: number
  rejected: number
  blankRows: number
  sha256: string | undefined
  faultCount: number
  /** With the numbers of their lines. */
  faults: LineFault[]
  oddityCount: number
  oddities: LineOddity[]
}

/** Checks the records of one file, and stages those without a fault. */
export async function stageFile(
  { load, check, lines, resource, options }: Staging,
  { entries, blankRows, origin }: InputFile,
  before: readonly Staged[],
): Promise<Staged> {
  const {
    customerId,
    faultsMax = recordsLimits.faultsReportedMax,
    onProgress,
    reject,
    signal,
  } = options
  const recordsBefore = before.reduce((sum, { records }) => sum + records, 0)
  const faultsBefore = before.reduce((sum, { faultCount }) => sum + faultCount, 0)
  const staged: Staged = {
    isWhole: true,
    isCutOff: false,
    records: 0,
    rejected: 0,
    blankRows: 0,
    sha256: undefined,
    faultCount: 0,
    faults: [],
    oddityCount: 0,
    oddities: [],
  }
  const file = before.length
  try {
    for await (const entry of entries) {
      signal?.throwIfAborted()
      staged.records += 1
      onProgress?.(recordsBefore + staged.records)
      const line = lines.numberOf({ file, line: entry.line })
      const read = readRecord(resource, check, entry, customerId)
      if ('record' in read) {
        noteOddities(staged, line, read.oddities)
        const raw = reject && textOf(entry.raw)
        const drained = load.stage({ ...read.record, line, file, raw })
        if (drained !== undefined) await drained
      } else if (reject !== undefined) {
        staged.rejected += 1
        reject({ file, line: entry.line, raw: entry.raw ?? new Uint8Array(0), faults: read.faults })
      } else {
        noteFaults(staged, line, read.faults)
        staged.isCutOff = faultsBefore + staged.faultCount >= faultsMax
        if (staged.isCutOff) break
      }
    }
    if (staged.isCutOff) staged.isWhole = false
    else if (origin !== undefined && 'sha256' in origin) staged.sha256 = await origin.sha256()
  } catch (error) {
    // An import that is ended closes its files.
    signal?.throwIfAborted()
    if (!(error instanceof UnreadableFile)) throw error
    staged.isWhole = false
    const fault = { member: 'file', code: 'unreadable', reason: error.message } as const
    noteFaults(staged, lines.numberOf({ file, line: error.line }), [fault])
  }
  staged.blankRows = blankRows?.() ?? 0
  lines.endFile()
  return staged
}

const textOf = (raw: Uint8Array = new Uint8Array(0)): string => Buffer.from(raw).toString('utf8')

/** The faults of the records and of whole files, with the numbers of their lines. */
export function faultsOfForm(
  files: readonly Staged[],
  records: number,
  lines: FileLines,
  { expected = {} }: StageOptions,
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

function noteFaults(staged: Staged, line: number, faults: readonly RecordFault[]): void {
  staged.faultCount += faults.length
  keepFirst(staged.faults, line, faults)
}

function noteOddities(staged: Staged, line: number, oddities: readonly Oddity[]): void {
  staged.oddityCount += oddities.length
  keepFirst(staged.oddities, line, oddities)
}

function keepFirst<T>(kept: (T & { line: number })[], line: number, found: readonly T[]): void {
  const room = recordsLimits.faultsReportedMax - kept.length
  kept.push(...found.slice(0, room).map((one) => ({ ...one, line })))
}

/** What the operator knows about the whole input. */
type Expected = {
  readonly records?: number | undefined
  /** Of the bytes before decompression, in lower-case hex. */
  readonly sha256?: string | undefined
  readonly mayBeEmpty?: boolean
  /** More rejected records than these refuse the others too. */
  readonly rejectedMax?: number | undefined
}

/** The fault of an import with more rejected records than its operator accepts. */
export function faultsOfRejected(
  files: readonly Staged[],
  { expected: { rejectedMax } = {} }: StageOptions,
): FoundFaults {
  const rejected = files.reduce((sum, file) => sum + file.rejected, 0)
  if (rejectedMax === undefined || rejected <= rejectedMax) return noFaults
  const reason = `${counted(rejected, 'record')} of the import rejected, and --rejects-max says ${rejectedMax}`
  return { faults: [{ line: 0, member: 'file', code: 'too_many', reason }], faultCount: 1 }
}

type Input = { readonly records: number; readonly sha256: string | undefined }

/**
 * How an input that was read to its end differs from what the operator expects. NDJSON and CSV have
 * no end mark: after a line break, an input that was cut off looks complete.
 */
function inputFaults({ records, sha256 }: Input, expected: Expected = {}): LineFault[] {
  const found: Pick<LineFault, 'code' | 'reason'>[] = []
  if (expected.records !== undefined && expected.records !== records) {
    const has = `has ${counted(records, 'record')}, and --expect says ${expected.records}`
    found.push({ code: 'incomplete', reason: `${has}; is it complete?` })
  } else if (records === 0 && expected.records === undefined && expected.mayBeEmpty !== true) {
    const reason = 'has no record; if that is right, add --allow-empty'
    found.push({ code: 'missing', reason })
  }
  if (expected.sha256 !== undefined && expected.sha256 !== sha256) {
    const reason = `has the SHA-256 checksum ${sha256}, not the one of --sha256; is it complete?`
    found.push({ code: 'incomplete', reason })
  }
  return found.map((fault) => ({ line: 0, member: 'file', ...fault }))
}

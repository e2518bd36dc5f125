import type { RecordFault, RecordRules, Resource } from '../contract/resource.ts'
import { limits } from '../platform/limits.ts'
import type {
  ImportOrigin,
  LineFault,
  MergeOptions,
  MergeReport,
  RecordLoad,
  StorableRecord,
  Store,
} from '../store/records.ts'
import { type RecordCheck, recordCheck } from './check.ts'
import { type Expected, inputFaults } from './input-faults.ts'
import { type Entry, UnreadableFile } from './lines.ts'
import { renderRecord } from './render.ts'

export type ImportOptions = Omit<MergeOptions, 'origin'> & {
  /** Who imports which input. Without it, the journal gets no entry. */
  readonly origin?: InputOrigin
  readonly expected?: Expected
  /** The customer of records without a `customer_id`. Naming another customer is a fault. */
  readonly customerId?: string | undefined
  readonly rules: RecordRules
  /** The size of a file that is not compressed. The store checks that it has space for it. */
  readonly fileBytes?: number | undefined
  readonly onProgress?: (records: number) => void
  /** Called when every record was read and the transaction begins. */
  readonly onMerge?: (() => void) | undefined
}

/** The checksum and the number of records are known when all of it was read. */
export type InputOrigin = Omit<ImportOrigin, 'sha256' | 'records'> & {
  readonly sha256: () => Promise<string>
}

export type ImportReport = MergeReport & { readonly records: number }

/** Stages every record and merges all in one transaction. A single fault prevents the merge. */
export async function importEntries(
  store: Store,
  resource: Resource,
  entries: AsyncIterable<Entry>,
  options: ImportOptions,
): Promise<ImportReport> {
  const load = await store.operator.beginLoad(resource, options.fileBytes)
  try {
    const { isWhole, records, ...found } = await stageEntries(load, resource, entries, options)
    const sha256 = isWhole ? await options.origin?.sha256() : undefined
    const ofInput = isWhole ? inputFaults({ records, sha256 }, options.expected) : []
    const faultCount = found.faultCount + ofInput.length
    if (faultCount > 0) {
      const faults = [...ofInput, ...found.faults].slice(0, limits.faultsReportedMax)
      return { faults, faultCount, records, added: 0, changed: 0, unchanged: 0 }
    }
    options.onMerge?.()
    const merged = await load.merge({
      dryRun: options.dryRun,
      allowOlder: options.allowOlder,
      origin: sha256 && options.origin ? { ...options.origin, sha256, records } : undefined,
    })
    const repeats = records - merged.added - merged.changed - merged.unchanged
    const unchanged = merged.faultCount > 0 ? 0 : merged.unchanged + repeats
    return { ...merged, records, unchanged }
  } finally {
    await load.close()
  }
}

type Staged = {
  /** Whether the input could be read to its end. */
  isWhole: boolean
  records: number
  faultCount: number
  faults: LineFault[]
}

async function stageEntries(
  load: RecordLoad,
  resource: Resource,
  entries: AsyncIterable<Entry>,
  options: ImportOptions,
): Promise<Staged> {
  const check = recordCheck(resource, options.rules)
  const staged: Staged = { isWhole: true, records: 0, faultCount: 0, faults: [] }
  try {
    for await (const entry of entries) {
      staged.records += 1
      options.onProgress?.(staged.records)
      const read = readEntry(resource, check, entry, options.customerId)
      if ('faults' in read) noteFaults(staged, entry.line, read.faults)
      else {
        const drained = load.stage(read.record)
        if (drained !== undefined) await drained
      }
    }
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    staged.isWhole = false
    noteFaults(staged, error.line, [{ member: 'file', reason: error.message }])
  }
  return staged
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

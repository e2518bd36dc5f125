import type { RecordFault, RecordRules, Resource } from '../contract/resource.ts'
import { limits } from '../platform/limits.ts'
import type {
  LineFault,
  MergeOptions,
  MergeReport,
  RecordLoad,
  StorableRecord,
  Store,
} from '../store/records.ts'
import { type RecordCheck, recordCheck } from './check.ts'
import { type Entry, UnreadableFile } from './lines.ts'
import { renderRecord } from './render.ts'

export type ImportOptions = MergeOptions & {
  /** The customer of records without a `customer_id`. Naming another customer is a fault. */
  readonly customerId?: string | undefined
  readonly rules: RecordRules
  /** The size of a file that is not compressed. The store checks that it has space for it. */
  readonly fileBytes?: number | undefined
  readonly onProgress?: (records: number) => void
  /** Called when every record was read and the transaction begins. */
  readonly onMerge?: (() => void) | undefined
}

/** `faults` are the first ones, in the order of their lines. `faultCount` counts all of them. */
export type ImportReport = MergeReport & { readonly records: number; readonly faultCount: number }

/** Stages every record and merges all in one transaction. A single fault prevents the merge. */
export async function importEntries(
  store: Store,
  resource: Resource,
  entries: AsyncIterable<Entry>,
  options: ImportOptions,
): Promise<ImportReport> {
  const load = await store.operator.beginLoad(resource, options.fileBytes)
  try {
    const staged = await stageEntries(load, resource, entries, options)
    if (staged.faultCount > 0) return { ...staged, added: 0, changed: 0, unchanged: 0 }
    options.onMerge?.()
    const merged = await load.merge(options)
    const repeats = staged.records - merged.added - merged.changed - merged.unchanged
    return {
      ...merged,
      records: staged.records,
      unchanged: merged.faults.length > 0 ? 0 : merged.unchanged + repeats,
      faultCount: merged.faults.length,
    }
  } finally {
    await load.close()
  }
}

type Staged = { records: number; faultCount: number; faults: LineFault[] }

async function stageEntries(
  load: RecordLoad,
  resource: Resource,
  entries: AsyncIterable<Entry>,
  options: ImportOptions,
): Promise<Staged> {
  const check = recordCheck(resource, options.rules)
  const staged: Staged = { records: 0, faultCount: 0, faults: [] }
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

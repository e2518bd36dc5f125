import type { RecordRules, Resource } from '@bursar/contract'
import {
  DELETION_UNSURE,
  type DerivedFault,
  MASKED_MISSING,
  type Store,
  StoreDamaged,
} from '@bursar/records'
import { recordCheck } from '../check.ts'
import { parseEntry } from '../entry.ts'
import { readRecord } from '../read-record.ts'
import { compareKind, faultsOfRow, type RecordFaults } from './compare-kind.ts'
import { cannotReadOn, describeAll, describeDamaged } from './describe-faults.ts'
import { openNames } from './open-names.ts'

/** What differs in a part of the store, and how much of it was written again. */
export type ReindexedPart = {
  readonly records: number
  readonly written: number
  /** Each difference as a line, and why it was left as it is. */
  readonly differences: readonly { readonly what: string; readonly left?: string }[]
}

type Deps = {
  readonly operator: Pick<Store['operator'], 'rows' | 'rewrite' | 'find' | 'put'>
  readonly rules: RecordRules
  /** Whether it writes what differs, and does not only say so. */
  readonly writes: boolean
}

/**
 * Compares all records of a kind with what is derived from them, and writes that again. It may be
 * ended at any time, run again and run beside a server: a record is stored by the rules of a PUT,
 * unless somebody has changed it meanwhile.
 */
export async function* reindexKind(resource: Resource, deps: Deps): AsyncIterable<ReindexedPart> {
  try {
    yield* reindexParts(resource, deps)
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error
    const difference = { what: cannotReadOn(resource.kind, error), left: UNREADABLE }
    yield { records: 0, written: 0, differences: [difference] }
  }
}

async function* reindexParts(
  resource: Resource,
  { operator, rules, writes }: Deps,
): AsyncIterable<ReindexedPart> {
  const restore = restoring(resource, operator, rules)
  /** Customers of damaged records that stay as they are. */
  const unsure = openNames()
  for await (const { records, damaged, derived } of compareKind(resource, operator.rows)) {
    const differences: { what: string; left?: string }[] = []
    const recounts: DerivedFault[] = []
    let written = 0
    for (const record of damaged) {
      const what = describeDamaged(record)
      const left = writes ? await restore(record) : undefined
      if (writes && left === undefined) {
        written += 1
        if (record.faults.includes(MASKED_MISSING)) recounts.push(recountOf(record))
      }
      if (left !== undefined) unsure.add(record.customerId)
      differences.push({ what, ...(left !== undefined && { left }) })
    }
    const byReason = Map.groupBy(derived, (fault) => reasonToLeave(fault, unsure.mayHave))
    if (writes) {
      const others = byReason.get(undefined) ?? []
      await operator.rewrite(resource, [...others, ...recounts])
      written += describeAll(others).length
    }
    for (const [left, faults] of byReason) {
      const why = left !== undefined && { left }
      differences.push(...describeAll(faults).map((what) => ({ what, ...why })))
    }
    yield { records, written, differences }
  }
}

/** A masked record that is back was counted before it was lost, and once more now. */
const recountOf = ({ kind, customer, customerId }: RecordFaults): DerivedFault => {
  return { kind, customer, customerId, fault: 'miscounted', kept: 0, counted: 0 }
}

/** A damaged record must keep its id, memo and address: no claim is ended, and none is guessed. */
function reasonToLeave(
  fault: DerivedFault,
  isUnsure: (customerId: string) => boolean,
): string | undefined {
  if (fault.fault === 'contested') return CONTESTED
  if (fault.fault === 'claimed without a record') return UNFOUNDED
  const dependsOnOthers = fault.fault === 'unclaimed' || fault.fault === 'miscounted'
  return dependsOnOthers && isUnsure(fault.customerId) ? AGAIN : undefined
}

/** Stores a record again from its full form. Returns why it did not. */
function restoring(
  resource: Resource,
  { find, put, rows }: Deps['operator'],
  rules: RecordRules,
): (record: RecordFaults) => Promise<string | undefined> {
  const check = recordCheck(resource, rules)
  const isIntact = async ({ customerId, id }: RecordFaults) => {
    const row = await rows.find(resource, customerId, id)
    return row === undefined || faultsOfRow(resource, row, rows).length === 0
  }
  /** The record in full, and what must still be stored when it is stored again. */
  const fullOf = async ({ customerId, id, faults }: RecordFaults) => {
    if (faults.includes(DELETION_UNSURE)) return undefined
    if (faults.includes(MASKED_MISSING)) {
      const line = await rows.fullBody(resource, customerId, id)
      return line === undefined ? undefined : { line, precondition: { noneMatch: 'any' } as const }
    }
    const found = await find(resource, { customerId, id })
    if (found === undefined || found.isWithdrawn) return undefined
    return { line: found.line, precondition: { match: [found.version] } }
  }
  return async (record) => {
    const { customerId, id } = record
    try {
      const full = await fullOf(record)
      if (full === undefined) return NOT_READ
      const entry = parseEntry(1, Buffer.from(full.line))
      if (entry === undefined) return NOT_READ
      const read = readRecord(resource, check, entry, customerId)
      if ('faults' in read || read.record.id !== id) return NOT_READ
      const { outcome } = await put(resource, {
        record: read.record,
        precondition: full.precondition,
        allowOlder: true,
        from: { command: 'PUT', clientId: 'bursar reindex' },
      })
      if (outcome === 'refused') return 'a record of another customer has a value of it'
      // Somebody else may have stored it meanwhile.
      return (await isIntact(record)) ? undefined : NOT_READ
    } catch (error) {
      if (error instanceof StoreDamaged) return NOT_READ
      throw error
    }
  }
}

const UNFOUNDED = 'store it for the customer whose it is, with --take-over or take_over=true'
const AGAIN = 'mend the records of the customer first, then run reindex again'
const UNREADABLE = 'mend what it names, or restore a backup, then run reindex again'
const CONTESTED = 'take it out of the record that is wrong, or withdraw that record'
const NOT_READ =
  'its full record cannot be read, or it is withdrawn; import it again, or restore a backup'

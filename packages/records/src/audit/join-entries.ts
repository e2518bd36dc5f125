import type { AuditEntry } from '@bursar/contract'
import { recordsLimits } from '../limits.ts'

/**
 * Joins the entries of one commit that differ in their ids alone, so that a batch of records has
 * one line. A line has at most `auditIdsPerLineMax` ids; further ones go to another line.
 */
export function joinEntries(entries: readonly AuditEntry[]): readonly AuditEntry[] {
  const joined: AuditEntry[] = []
  const places = new Map<string, number>()
  for (const entry of entries) {
    const { ids: _ids, customers: _customers, rows: _rows, count: _count, ...meaning } = entry
    const key = JSON.stringify(meaning)
    const place = places.get(key)
    const first = place === undefined ? undefined : joined[place]
    const isFull = lengthOf(first) + lengthOf(entry) > recordsLimits.auditIdsPerLineMax
    if (place === undefined || first === undefined || isFull)
      places.set(key, joined.push(entry) - 1)
    else joined[place] = joinTwo(first, entry)
  }
  return joined
}

const lengthOf = (entry: AuditEntry | undefined): number =>
  Math.max(entry?.ids?.length ?? 1, entry?.customers?.length ?? 1)

function joinTwo(one: AuditEntry, other: AuditEntry): AuditEntry {
  const ids = union(one.ids, other.ids)
  const customers = union(one.customers, other.customers)
  const rows = sum(one.rows, other.rows)
  return {
    ...one,
    ...(ids && { ids }),
    ...(customers && { customers }),
    ...(rows !== undefined && { rows }),
    count: (one.count ?? 1) + (other.count ?? 1),
  }
}

const union = (one: readonly string[] | undefined, other: readonly string[] | undefined) =>
  one === undefined && other === undefined
    ? undefined
    : [...new Set([...(one ?? []), ...(other ?? [])])]

const sum = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0)

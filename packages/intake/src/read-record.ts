import type { RecordFault, Resource } from '@bursar/contract'
import type { StorableRecord } from '@bursar/records'
import type { RecordCheck } from './check.ts'
import type { Entry } from './entry.ts'
import { type Oddity, odditiesOf } from './odd-values.ts'
import { renderRecord } from './render.ts'

export type ReadRecord =
  | { readonly faults: readonly RecordFault[] }
  | { readonly record: StorableRecord; readonly oddities: readonly Oddity[] }

/** Checks and renders one entry. It is of `customerId` where that is given. */
export function readRecord(
  resource: Resource,
  check: RecordCheck,
  entry: Entry,
  customerId: string | undefined,
): ReadRecord {
  if ('reason' in entry) {
    const { code, reason } = entry
    return { faults: [{ member: 'record', code, reason }] }
  }
  const { line, value } = entry
  const checked = check(customerId === undefined ? value : ofCustomer(value, customerId))
  if ('faults' in checked) return checked
  if (customerId !== undefined && checked.record.customer_id !== customerId) {
    const reason = 'must be the customer that --customer names'
    return { faults: [{ member: 'customer_id', code: 'other_customer', reason }] }
  }
  const oddities = odditiesOf(checked.record, checked.json)
  return { record: renderRecord(resource, checked.record, line), oddities }
}

function ofCustomer(value: unknown, customerId: string): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? { customer_id: customerId, ...value } : value
}

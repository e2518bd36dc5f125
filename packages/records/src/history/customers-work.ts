import { largest, matchesPrefix, printInstant } from '@bursar/base'
import {
  contractLimits,
  type OperatorPrincipal,
  type OperatorWork,
  recordKinds,
} from '@bursar/contract'
import { customerPlaceOf, customerPosition } from '../position.ts'
import type { CustomerEntry, CustomerPage, CustomerSearch } from '../records/customer-entries.ts'
import type { Store } from '../records.ts'

type CustomersDeps = { readonly store: Pick<Store, 'operator'> }

/** The work of listCustomers. */
export const customersWork =
  ({ store }: CustomersDeps): OperatorWork =>
  async ({ caller, parameters, after, trace }) => {
    const search = {
      prefix: String(parameters.get('prefix') ?? '').trim(),
      after: after && customerPlaceOf(after),
      customersMax: Number(parameters.get('limit') ?? contractLimits.customersPageMax),
    }
    const found = await findCustomers(store, caller, search)
    trace.rows = found.customers.length
    return {
      body: { customers: found.customers.map(describeCustomer) },
      next: found.next && customerPosition(found.next),
    }
  }

/** The customers that the caller may see. */
export async function findCustomers(
  { operator: { customers } }: CustomersDeps['store'],
  { boundTo }: Pick<OperatorPrincipal, 'boundTo'>,
  search: CustomerSearch,
): Promise<CustomerPage> {
  if (boundTo === null) return await customers.list(search)
  return pageOfOne(await customers.find(boundTo), search)
}

/** The one customer of a bound client, if the search is for it. */
function pageOfOne(entry: CustomerEntry | undefined, { prefix }: CustomerSearch): CustomerPage {
  const isFound = entry !== undefined && matchesPrefix(entry, prefix)
  return { customers: isFound ? [entry] : [], next: undefined }
}

/** A customer as HTTP and the command line show it. */
export function describeCustomer({ id, name, kinds }: CustomerEntry) {
  const changed = kinds.values().reduce((last, kind) => largest(last, kind.changedAt), 0n)
  const kept = recordKinds.flatMap((kind) => {
    const since = kinds.get(kind)?.keptSince
    return since === undefined ? [] : [[kind, printInstant(since)]]
  })
  return {
    id,
    ...(name !== undefined && { name }),
    counts: Object.fromEntries(recordKinds.map((kind) => [kind, kinds.get(kind)?.live ?? 0])),
    ...(changed > 0n && { changed_at: printInstant(changed) }),
    kept_since: Object.fromEntries(kept),
  }
}

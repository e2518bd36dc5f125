import { limitsOf, printInstant } from '@bursar/base'
import { type OperatorPrincipal, type OperatorWork, resources } from '@bursar/contract'
import type { FeeQuoteStore } from '../fee-quotes.ts'
import { positionId, positionMicros, positionOf } from '../position.ts'
import type { Search, SearchHit } from '../records/history.ts'
import type { Store } from '../records.ts'
import { isUuid } from '../search/search.ts'
import { findCustomers } from './customers-work.ts'

const limits = limitsOf({
  /** Hits of a search: more than a person reads. */
  searchHitsMax: 20,
})

type SearchDeps = {
  readonly store: Pick<Store, 'operator'>
  readonly quotes: Pick<FeeQuoteStore, 'operator'>
}

/** The work of searchRecords. One hit more than are answered tells that there are more. */
export const searchWork =
  ({ store, quotes }: SearchDeps): OperatorWork =>
  async ({ caller, parameters, after, trace }) => {
    const search = {
      query: String(parameters.get('q')).trim(),
      customerId: caller.boundTo ?? undefined,
      hitsMax: limits.searchHitsMax + 1,
      after,
      findsOwners: caller.scopes.has('ingest:read_record'),
    }
    const [{ hits: records, stoppedAt }, fees, customers] = await Promise.all([
      store.operator.search(search),
      findFees(quotes, search),
      // Customers are on the first page alone.
      after === undefined ? customersNamed(store, caller, search.query) : undefined,
    ])
    // The look-ups of fees come after those of records.
    const found = stoppedAt === undefined ? [...records, ...fees] : records
    const hits = found.slice(0, limits.searchHitsMax)
    trace.rows = hits.length
    const bodies = await readBodies(store, hits)
    return {
      body: {
        ...(customers !== undefined && { customers }),
        hits: hits.map((hit) => describeHit(hit, bodies.get(keyOf(hit)))),
      },
      next: found.length > hits.length ? hits.at(-1)?.place : stoppedAt,
    }
  }

async function customersNamed(
  store: SearchDeps['store'],
  caller: Pick<OperatorPrincipal, 'boundTo'>,
  prefix: string,
) {
  if (prefix === '') return []
  const search = { prefix, after: undefined, customersMax: limits.searchHitsMax }
  const { customers } = await findCustomers(store, caller, search)
  return customers.map(({ id, name }) => ({ id, ...(name !== undefined && { name }) }))
}

/** What lists show of the records that were found. */
async function readBodies(
  { operator }: SearchDeps['store'],
  hits: readonly SearchHit[],
): Promise<ReadonlyMap<string, string>> {
  const bodies = new Map<string, string>()
  for (const [kind, found] of Map.groupBy(hits, (hit) => hit.kind)) {
    const resource = resources.find((one) => one.kind === kind)
    if (resource === undefined) continue
    const listed = await operator.across(resource).listed(found.map(({ id }) => id))
    for (const [id, { body }] of listed) bodies.set(keyOf({ kind, id }), body)
  }
  return bodies
}

const keyOf = ({ kind, id }: Pick<SearchHit, 'kind' | 'id'>): string => `${kind} ${id}`

const describeHit = (
  { kind, id, customerId, at, matched }: SearchHit,
  body: string | undefined,
) => ({
  kind,
  id,
  customer_id: customerId,
  at: printInstant(at),
  matched,
  ...(body !== undefined && { record: JSON.parse(body) }),
})

/** The look-ups of fees come after those of records, which have lower numbers. */
const BY_ID = 1000n
const BY_WITHDRAWAL = 1001n
const NO_ID = '00000000-0000-0000-0000-000000000000'

async function findFees(
  { operator }: SearchDeps['quotes'],
  { query, customerId, hitsMax, after }: Search,
): Promise<readonly SearchHit[]> {
  const begun = after === undefined ? -1n : positionMicros(after)
  const last = after !== undefined && begun === BY_WITHDRAWAL ? positionId(after) : NO_ID
  const [found, byWithdrawal] = await Promise.all([
    isUuid(query) ? operator.find(query.toLowerCase()) : undefined,
    operator.ofWithdrawal(query, { customerId, after: last, quotesMax: hitsMax }),
  ])
  const isOwn = customerId === undefined || found?.customerId === customerId
  const byId = found !== undefined && isOwn ? [found] : []
  const hitOf = (matched: string, number: bigint) => (quote: NonNullable<typeof found>) => ({
    kind: 'fees',
    id: quote.id,
    customerId: quote.customerId,
    at: quote.createdAt,
    matched,
    place: positionOf(number, quote.id),
  })
  return [
    ...(begun < BY_ID ? byId : []).map(hitOf('id', BY_ID)),
    ...byWithdrawal.filter(({ id }) => id !== found?.id).map(hitOf('withdrawal', BY_WITHDRAWAL)),
  ]
}

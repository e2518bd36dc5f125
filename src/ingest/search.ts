import type { IngestWork } from '../contract/ingest-operation.ts'
import { limits } from '../platform/limits.ts'
import type { FeeQuoteStore } from '../store/fee-quotes.ts'
import type { SearchHit } from '../store/records/history.ts'
import type { Store } from '../store/records.ts'
import { printInstant } from '../values/instant.ts'

type SearchDeps = {
  readonly store: Pick<Store, 'operator'>
  readonly quotes: Pick<FeeQuoteStore, 'operator'>
}

/** The work of searchRecords. One hit more than are answered tells that there are more. */
export const searchWork =
  ({ store, quotes }: SearchDeps): IngestWork =>
  async ({ caller, parameters, trace }) => {
    const query = String(parameters.get('q')).trim()
    const customerId = caller.boundTo ?? undefined
    const hitsMax = limits.searchHitsMax + 1
    const [records, fees] = await Promise.all([
      store.operator.search(query, customerId, hitsMax),
      findFees(quotes, query, customerId, hitsMax),
    ])
    const found = [...records, ...fees]
    const hits = found.slice(0, limits.searchHitsMax).map(describeHit)
    trace.rows = hits.length
    return { body: { hits, more: found.length > hits.length } }
  }

const describeHit = ({ kind, id, customerId, at, matched }: SearchHit) => ({
  ...{ kind, id, customer_id: customerId, at: printInstant(at), matched },
})

async function findFees(
  { operator }: SearchDeps['quotes'],
  query: string,
  customerId: string | undefined,
  hitsMax: number,
): Promise<readonly SearchHit[]> {
  const [found, byWithdrawal] = await Promise.all([
    operator.find(query.toLowerCase()),
    operator.ofWithdrawal(query, customerId, hitsMax),
  ])
  const isOwn = customerId === undefined || found?.customerId === customerId
  const byId = isOwn ? found : undefined
  const hitOf = (matched: string) => (quote: NonNullable<typeof byId>) => ({
    ...{ kind: 'fees', id: quote.id, customerId: quote.customerId, at: quote.createdAt, matched },
  })
  return [
    ...(byId === undefined ? [] : [byId]).map(hitOf('id')),
    ...byWithdrawal.map(hitOf('withdrawal')),
  ]
}

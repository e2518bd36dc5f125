import assert from 'node:assert/strict'
import type { Config } from '@bursar/base'
import { positionOf } from '@bursar/records'
import { listFiatAccounts } from '../../packages/contract/src/operations/list-fiat-accounts.ts'
import { bind, cursorKeysOf, sealCursor } from '../../packages/server/src/pipeline/cursor.ts'
import { validate } from '../../packages/server/src/pipeline/validate.ts'
import { fetchToken } from '../../test/support/harness.ts'
import { BIG, CUSTOMERS, customerOf, idOf, makeClient, microsOf, withStores } from '../world.ts'
import type { LoadRequest } from '../wrk.ts'

const ACCOUNTS = '/v2/transfer/fiat-accounts'
/** More than a server answers in one round, so that no request is repeated. */
const GETS_MAX = 200_000
const PAGES_MAX = 50_000

/** What the reads of a store need: their requests, tokens and goals. */
export type ReadWorld = {
  readonly folder: string
  /** The first is of the customer with most records, the others of the equal customers. */
  readonly tokens: readonly string[]
  readonly goals: Readonly<Record<'get' | 'coldList' | 'hotList' | 'nginx' | 'quote', number>>
  /** Every account of the big customer, in random order. Each round begins with other ones. */
  gets(round: number): readonly LoadRequest[]
  getsOfOthers(): readonly LoadRequest[]
  /** Pages after random records, by cursors that no request has used before. */
  pages(limit: number): readonly LoadRequest[]
  /** The rate of the same pages without HTTP. */
  sqlRate(limit: number, seconds: number): Promise<number>
}

export async function openReadWorld(
  { config, url, records }: { config: Config; url: string; records: number },
  rest: Pick<ReadWorld, 'folder' | 'goals' | 'sqlRate'>,
): Promise<ReadWorld> {
  const customers = [BIG, ...Array.from({ length: CUSTOMERS }, (_, at) => `customer-${at}`)]
  const tokens: string[] = []
  for (const customerId of customers) {
    tokens.push(await fetchToken(url, await makeClient(config, { customerId })))
  }
  const keys = await withStores(config, async (stores) =>
    cursorKeysOf(await stores.keyring(stores.credentials())),
  )
  const all = shuffled(records)
  const big = all.filter((at) => customerOf(at) === BIG)
  const getOf = (at: number): LoadRequest => ({
    path: `${ACCOUNTS}/${idOf(at)}`,
    token: customers.indexOf(customerOf(at)),
  })
  const none = { rawQuery: '', parameters: {}, body: Buffer.alloc(0), trace: {} }
  const { list } = validate(listFiatAccounts, listFiatAccounts, none)
  assert(list !== undefined, 'a list has a selection')
  const { filters, selection } = list
  const { id: operation } = listFiatAccounts
  const binding = bind({ tenant: BIG, operation, order: selection.order, filters })
  return {
    ...rest,
    tokens,
    gets: (round) => {
      const start = Math.floor((round * big.length) / 5) % big.length
      return [...big.slice(start), ...big.slice(0, start)].slice(0, GETS_MAX).map(getOf)
    },
    getsOfOthers: () =>
      all
        .filter((at) => customerOf(at) !== BIG)
        .slice(0, GETS_MAX)
        .map(getOf),
    pages: (limit) => {
      // A page after the oldest records would be short.
      const starts = big.filter((at) => at > limit * 1.2)
      return starts.slice(0, PAGES_MAX).map((at) => {
        const position = positionOf(microsOf(at), idOf(at))
        const cursor = sealCursor(keys, { position }, binding)
        return { path: `${ACCOUNTS}?limit=${limit}&page_cursor=${cursor}` }
      })
    },
  }
}

/** The same order in every run. */
function shuffled(count: number): readonly number[] {
  const order = Array.from({ length: count }, (_, at) => at)
  let state = 1
  for (let at = count - 1; at > 0; at -= 1) {
    state = (state * 48_271) % 2_147_483_647
    const other = state % (at + 1)
    ;[order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0]
  }
  return order
}

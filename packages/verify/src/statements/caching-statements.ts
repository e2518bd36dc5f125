import { alone, type Checks, each, once } from '../check-statement.ts'
import type { Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import { type List, lists } from '../contract.ts'
import { readAlone } from '../questions/each-record.ts'
import { hold, ifNotTestable, need } from '../verdicts.ts'

/** What caches may do with the answers. */
export const cachingStatements: Checks = {
  'caching.lists': each(async ({ session }, list) => {
    const { exchange } = await session.sample(list)
    holdCaching(exchange, 'private', 'no-cache')
    hold(exchange.headers.has('etag'), 'ETag is missing', exchange)
  }),
  'caching.not-modified': each(async ({ session }, list) => {
    const { exchange } = await session.items(list, { limit: '3' })
    const etag = exchange.headers.get('etag')
    need(etag !== null, 'it has no ETag')
    const headers = { 'if-none-match': etag }
    const conditional = { headers, sent: `with If-None-Match: ${etag.slice(0, 60)}` }
    const again = await session.list(list, { limit: '3' }, conditional)
    need(again.status < 500, `it answers HTTP ${again.status}`)
    hold(again.status === 304 && again.text === '', 'the status must be 304', again)
  }),
  'caching.etag-differs': once(async ({ session }) => {
    const tagged: Tagged[] = []
    for (const list of lists) {
      tagged.push(...((await taggedPages(session, list).catch(ifNotTestable)) ?? []))
    }
    need(tagged.length > 1, 'no two pages have an ETag')
    for (const { etag, exchange } of tagged) {
      const same = tagged.find((one) => one.etag === etag && one.exchange.text !== exchange.text)
      hold(same === undefined, `its ETag is that of ${same?.exchange.request}`, exchange)
    }
  }),
  'caching.reads': alone(async ({ session }, { list }) => {
    for (const { alone } of await readAlone(session, list)) {
      need(alone.status === 200, `it answers HTTP ${alone.status}`)
      holdCaching(alone, 'no-store')
    }
  }),
}

/** Cache-Control has these directives. */
export function holdCaching(answered: Exchange, ...directives: readonly string[]): void {
  const caching = answered.headers.get('cache-control') ?? ''
  const hasAll = directives.every((directive) => caching.includes(directive))
  hold(hasAll, `Cache-Control must be ${directives.join(', ')}`, answered)
}

type Tagged = { readonly exchange: Exchange; readonly etag: string }

/** A few pages of different records. */
async function taggedPages(session: Session, list: List): Promise<readonly Tagged[]> {
  const tagged: Tagged[] = []
  for (const query of [{ limit: '1' }, { limit: '3' }, { limit: '1', order: 'ASC' }]) {
    const { exchange, items } = await session.items(list, query)
    const etag = exchange.headers.get('etag')
    if (etag !== null && items.length > 0) tagged.push({ etag, exchange })
  }
  return tagged
}

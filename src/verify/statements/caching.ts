import { pathIdOf } from '../json.ts'
import { itHas } from '../session.ts'
import type { Statement } from '../statement.ts'
import { hold, need } from '../verdicts.ts'
import { forSingleReads } from './problems.ts'

/** What caches may do with the answers. */
export const cachingStatements: readonly Statement[] = [
  {
    id: 'caching.lists',
    says: 'A list has Cache-Control private, no-cache and an ETag.',
    source: 'bursar',
    checkList: async ({ session }, list) => {
      const { exchange } = await session.sample(list)
      const caching = exchange.headers.get('cache-control') ?? ''
      const isPrivate = caching.includes('private') && caching.includes('no-cache')
      hold(isPrivate, 'Cache-Control must be private, no-cache', exchange)
      hold(exchange.headers.has('etag'), 'ETag is missing', exchange)
    },
  },
  {
    id: 'caching.not-modified',
    says: 'A list that has not changed is answered 304 to its ETag, without a body.',
    source: 'bursar',
    checkList: async ({ session }, list) => {
      const { exchange } = await session.items(list, { limit: '3' })
      const etag = exchange.headers.get('etag')
      need(etag !== null, 'it has no ETag')
      const headers = { 'if-none-match': etag }
      const again = await session.list(list, { limit: '3' }, { headers })
      hold(again.status === 304 && again.text === '', 'the status must be 304', again)
    },
  },
  {
    id: 'caching.reads',
    says: 'A single read has Cache-Control no-store.',
    source: 'bursar',
    check: async ({ session }) =>
      forSingleReads(session, async ({ list }) => {
        const { items } = await session.sample(list)
        const [item] = items
        need(item !== undefined, itHas(items))
        const alone = await session.call(`${list.path}/${pathIdOf(item)}`)
        need(alone.status === 200, `it answers HTTP ${alone.status}`)
        const caching = alone.headers.get('cache-control') ?? ''
        hold(caching.includes('no-store'), 'Cache-Control must be no-store', alone)
      }),
  },
]

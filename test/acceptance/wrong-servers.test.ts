import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { catalogue } from '../../src/verify/catalogue.ts'
import { type VerifyOptions, verifyTarget } from '../../src/verify/verify.ts'
import { acme, borealis, startTestService, type TestService } from '../support/harness.ts'
import { isLong } from '../support/long.ts'
import { type Asked, startWrongServer, type Wrong } from './support/wrong-server.ts'

/**
 * Servers that are wrong in one way each, in front of a correct one. Each breaks exactly the
 * statements of its fault. A long run checks every statement on each; the others check the groups
 * that the fault belongs to.
 */

let service: TestService
/** A token of the customer whose client does not run the checks. */
let foreignToken: string

before(async () => {
  service = await startTestService()
  foreignToken = await service.tokenOf(acme)
})
after(() => service.stop())

type WrongServerCase = Wrong & {
  readonly fault: string
  /** The ids of the statements, in the order of the report. */
  readonly breaks: readonly string[]
  /** Whether statements of other groups break too. */
  readonly isWide?: true
}

/** Borealis has few records, so that a run is short. */
const credentialsOf = ({ clientId, clientSecret }: typeof acme) => ({
  id: clientId,
  secret: clientSecret,
})

const groupOf = (id: string): string => id.split('.')[0] ?? ''
const everyGroup = [...new Set(catalogue.map(({ id }) => groupOf(id)))]

const verifyAt = (url: string, over: Partial<VerifyOptions> = {}) =>
  verifyTarget({
    target: url,
    tokenUrl: `${url}/oauth2/token`,
    client: credentialsOf(borealis),
    otherClient: credentialsOf(acme),
    allowFees: true,
    ...over,
  })

// --- What the wrong servers do, in terms of a request or an answer.

const isList = ({ url }: Asked, path = '') =>
  url.pathname.endsWith(path) &&
  url.pathname.startsWith('/v2/') &&
  !/[0-9a-f]{12}$/i.test(url.pathname)

const replaced =
  (pattern: RegExp, by: string | ((...found: string[]) => string)): NonNullable<Wrong['answer']> =>
  ({ text }) => ({ text: text.replace(pattern, by as string) })

/** Changes the records of each page of a list. */
const eachPage =
  // biome-ignore lint/suspicious/noExplicitAny: a test reads records of every shape
    (change: (items: any[], asked: Asked) => any[]): NonNullable<Wrong['answer']> =>
    ({ status, text }, asked) => {
      if (status !== 200 || !isList(asked) || asked.method !== 'GET') return {}
      const body = JSON.parse(text)
      const name = Object.keys(body).find((member) => Array.isArray(body[member])) ?? ''
      return { text: JSON.stringify({ ...body, [name]: change(body[name], asked) }) }
    }

const withUrl = ({ url }: Asked, change: (parameters: URLSearchParams) => void): Partial<Asked> => {
  const changed = new URL(url)
  change(changed.searchParams)
  return { url: changed }
}

const withToken = (asked: Asked, token: string): Asked => ({
  ...asked,
  headers: new Headers({ ...Object.fromEntries(asked.headers), authorization: `Bearer ${token}` }),
})

const without = (headers: Headers, name: string): Headers => {
  const kept = new Headers(headers)
  kept.delete(name)
  return kept
}

/** The last record of a page appears again on the next, where that is the last and has room. */
const repeatsRow = (): Wrong => {
  const last = new Map<string, unknown>()
  return {
    answer: eachPage((items, { url }) => {
      const previous = last.get(url.pathname)
      last.set(url.pathname, items.at(-1))
      const isNext = (url.searchParams.get('page_cursor') ?? '') !== ''
      const hasRoom = items.length < Number(url.searchParams.get('limit'))
      return isNext && hasRoom && previous !== undefined ? [previous, ...items] : items
    }),
  }
}

const wrongServers: readonly WrongServerCase[] = [
  {
    fault: 'shows whole account numbers in a list',
    breaks: ['masking.account-numbers'],
    answer: replaced(/(?<="account_number":")X+/g, (masked) => '7'.repeat(masked.length)),
  },
  {
    fault: 'shows the owner of an account in a list',
    breaks: ['masking.owner'],
    answer: replaced(
      /(?<="fiat_account_owner":)\{\}/,
      '{"institution_details":{"name":"First Sample Company"}}',
    ),
  },
  {
    fault: 'drops the cursor of a page',
    breaks: ['paging.nothing-lost'],
    answer: replaced(/,"next_page_cursor":"[^"]*"/, ''),
  },
  {
    fault: 'repeats a row on the next page',
    breaks: ['paging.each-once'],
    ...repeatsRow(),
  },
  {
    fault: 'answers a null cursor',
    breaks: ['paging.last-cursor'],
    answer: ({ text }) => ({ text: text.replace(/(?<=[\]])\}$/, ',"next_page_cursor":null}') }),
  },
  {
    fault: 'answers short pages',
    breaks: ['paging.short-page', 'paging.full-pages', 'paging.last-cursor'],
    request: (asked) =>
      withUrl(asked, (query) => {
        const limit = Number(query.get('limit'))
        if (limit > 1 && limit < 1000) query.set('limit', String(limit - 1))
      }),
  },
  {
    fault: 'ignores a filter',
    breaks: ['filters.status'],
    request: (asked) =>
      withUrl(asked, (query) => {
        if (query.get('status') !== 'NO_SUCH_STATUS') query.delete('status')
      }),
  },
  {
    fault: 'ignores an inclusive bound’s own record',
    breaks: ['filters.created_at.gte'],
    request: (asked) => ({
      url: new URL(asked.url.href.replace('created_at.gte', 'created_at.gt')),
    }),
  },
  {
    fault: 'reverses an order',
    breaks: ['order.ascending'],
    answer: eachPage((items, { url }) =>
      url.searchParams.get('order') === 'ASC' ? items.toReversed() : items,
    ),
  },
  {
    fault: 'answers a record of another customer',
    breaks: ['isolation.reads'],
    answer: ({ status }, asked, again) =>
      status === 404 ? again(withToken(asked, foreignToken)) : {},
  },
  {
    fault: 'filters the records of every customer',
    breaks: ['isolation.filters'],
    answer: ({ text }, asked, again) =>
      /:\[\]\}$/.test(text) && /ids=/.test(asked.url.search)
        ? again(withToken(asked, foreignToken))
        : {},
  },
  {
    fault: 'shows the statements of another customer',
    breaks: ['isolation.statements'],
    answer: ({ text }, asked, again) =>
      text === '{"statements":[]}' && /customer_id=acme/.test(asked.url.search)
        ? again(withToken(asked, foreignToken))
        : {},
  },
  {
    fault: 'names another customer in a record',
    breaks: ['isolation.own-customer'],
    answer: (answered, asked) =>
      isList(asked, 'deposit-addresses')
        ? { text: answered.text.replace('"customer_id":"borealis"', '"customer_id":"acme"') }
        : {},
  },
  {
    fault: 'shows a list of another customer',
    breaks: ['paging.nothing-lost', 'isolation.own-customer', 'isolation.lists'],
    // The records that it shows cannot be filtered.
    isWide: true,
    answer: ({ status }, asked, again) =>
      status === 200 && asked.url.href.endsWith('deposit-addresses?limit=1000')
        ? again(withToken(asked, foreignToken))
        : {},
  },
  {
    fault: 'starts again at a cursor that it cannot read',
    breaks: [
      ...['cursors.altered', 'cursors.order', 'cursors.filters', 'cursors.list'],
      'isolation.cursors',
    ],
    answer: ({ status }, asked, again) =>
      status === 400
        ? again({ ...asked, ...withUrl(asked, (query) => query.delete('page_cursor')) })
        : {},
  },
  {
    fault: 'answers an amount as a number',
    breaks: ['values.amounts'],
    answer: replaced(/"principal":"[^"]*"/, '"principal":1.5'),
  },
  {
    fault: 'answers null for an optional member',
    breaks: ['values.members'],
    answer: (answered, asked) =>
      isList(asked, 'issuer-quotes')
        ? { text: answered.text.replaceAll(/"ref_id":"[^"]*"/g, '"ref_id":null') }
        : {},
  },
  {
    fault: 'answers timestamps with an offset',
    breaks: ['values.timestamps'],
    answer: (answered, asked) =>
      isList(asked, 'issuer-quotes')
        ? { text: answered.text.replaceAll(/(?<="created_at":"[^"]*)Z"/g, '+00:00"') }
        : {},
  },
  {
    fault: 'answers 400 to a wrong secret',
    breaks: ['tokens.wrong-secret'],
    answer: ({ status }, { url }) =>
      status === 401 && url.pathname === '/oauth2/token' ? { status: 400 } : {},
  },
  {
    fault: 'answers records without a token',
    breaks: ['authorization.required', 'authorization.challenge'],
    answer: ({ status }, asked, again) =>
      status === 401 && !asked.headers.has('authorization') && isList(asked)
        ? again(withToken(asked, foreignToken))
        : {},
  },
  {
    fault: 'ignores the scope of a token',
    breaks: [
      ...['authorization.scope', 'authorization.scope-challenge', 'authorization.fee-scope'],
    ],
    answer: ({ status }, asked, again) =>
      status === 403 ? again(withToken(asked, foreignToken)) : {},
  },
  {
    fault: 'answers HTML at an unknown path',
    breaks: ['problems.format', 'problems.request-id'],
    answer: (_, { url }) =>
      url.pathname.startsWith('/v2/no-such')
        ? { text: '<h1>Not Found</h1>', headers: new Headers({ 'content-type': 'text/html' }) }
        : {},
  },
  {
    fault: 'accepts a limit above the largest',
    breaks: ['parameters.limit'],
    request: (asked) => ({ url: new URL(asked.url.href.replace('limit=1001', 'limit=1000')) }),
  },
  {
    fault: 'shows a deleted account alone',
    breaks: ['reads.deleted'],
    answer: ({ status }, asked, again) =>
      status === 404 && asked.method === 'GET'
        ? again({ ...asked, ...withUrl(asked, (query) => query.set('include_deleted', 'true')) })
        : {},
  },
  {
    fault: 'lets caches store single records',
    breaks: ['caching.reads'],
    answer: ({ headers }, asked) =>
      isList(asked) ? {} : { headers: without(headers, 'cache-control') },
  },
  {
    fault: 'answers a total that is not amount plus fee',
    breaks: ['fees.sum'],
    answer: replaced(/(?<="total":")(?=103)/, '1'),
  },
]

for (const { fault, breaks, isWide, ...wrong } of wrongServers) {
  test(`names a server that ${fault}`, async () => {
    await using server = await startWrongServer(service.url, wrong)
    const groups = breaks.map(groupOf)
    // Wrong secrets are counted, and a few dozen runs would lock the client out.
    const others =
      isLong && isWide === undefined ? everyGroup.filter((group) => group !== 'tokens') : []
    const results = await verifyAt(server.url, { only: [...groups, ...others] })
    const broken = results.filter(({ verdict }) => verdict === 'broken')
    assert.deepEqual(
      broken.map(({ id }) => id),
      breaks,
      JSON.stringify(broken, null, 1),
    )
  })
}

test('names a server that does not answer in time', async () => {
  await using server = await startWrongServer(service.url, {
    answer: (_, asked) => (isList(asked, 'issuer-quotes') ? new Promise(() => {}) : {}),
  })
  const results = await verifyAt(server.url, { only: ['paging.envelope'], requestTimeoutMs: 1000 })
  const faults = results.flatMap((result) => result.faults)
  assert.deepEqual(faults, [
    {
      list: 'issuer quote executions',
      says: 'no answer came within 1 s',
      request: `GET ${server.url}/v2/issuer-quotes?limit=1`,
      answer: 'none',
    },
  ])
})

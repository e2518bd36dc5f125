import type { Answered, Asked, Wrong } from '../wrong-server.ts'
import {
  asks,
  changedUrl,
  drops,
  eachPage,
  envelopeOf,
  ignoresValue,
  isEmpty,
  isList,
  type Json,
  problem,
  refuses,
  replaced,
  takes,
  type WrongServerCase,
  withHeader,
  withQuery,
} from './mutations.ts'

/** The last record of a page appears again on the next, where that is the last and has room. */
const repeatsRow = (): Wrong => {
  const last = new Map<string, unknown>()
  return eachPage((items, { url }) => {
    const previous = last.get(url.pathname)
    last.set(url.pathname, items.at(-1))
    const isNext = (url.searchParams.get('page_cursor') ?? '') !== ''
    const hasRoom = items.length < Number(url.searchParams.get('limit'))
    return isNext && hasRoom && previous !== undefined ? [previous, ...items] : items
  })
}

const limitOf = (query: URLSearchParams): number => Number(query.get('limit'))

const paging: readonly WrongServerCase[] = [
  {
    fault: 'drops the cursor of a page',
    breaks: ['paging.nothing-lost'],
    wrong: replaced(/,"next_page_cursor":"[^"]*"/, ''),
  },
  {
    fault: 'repeats a row on the next page',
    breaks: ['paging.each-once'],
    wrong: () => repeatsRow(),
  },
  {
    fault: 'leaves out the first row of each next page',
    breaks: ['paging.nothing-lost', 'paging.full-pages', 'paging.short-page'],
    wrong: eachPage(
      (items) => items.slice(1),
      ({ url }) => (url.searchParams.get('page_cursor') ?? '') !== '',
    ),
  },
  {
    fault: 'answers a null cursor',
    breaks: ['paging.last-cursor'],
    wrong: replaced(/(?<=[\]])\}$/, ',"next_page_cursor":null}'),
  },
  {
    fault: 'answers an empty cursor',
    breaks: ['paging.last-cursor'],
    wrong: replaced(/(?<=[\]])\}$/, ',"next_page_cursor":""}', isList),
  },
  {
    fault: 'answers short pages',
    breaks: ['paging.short-page', 'paging.full-pages', 'paging.last-cursor'],
    wrong: withQuery((query) => {
      const limit = limitOf(query)
      if (limit > 1 && limit < 1000) query.set('limit', String(limit - 1))
    }),
  },
  {
    fault: 'answers a record more than limit',
    breaks: ['paging.limit'],
    wrong: withQuery((query) => {
      const limit = limitOf(query)
      if (limit > 1 && limit < 1000) query.set('limit', String(limit + 1))
    }),
  },
  {
    fault: 'has a default limit of 50',
    breaks: ['paging.default-limit'],
    wrong: withQuery((query) => {
      if (!query.has('limit')) query.set('limit', '50')
    }),
  },
  {
    fault: 'keeps the limit of the first page',
    breaks: ['paging.limit-change'],
    wrong: (() => {
      const limits = new Map<string, string>()
      return {
        answer: ({ text }: { text: string }, asked: Asked): Partial<Json> => {
          const given = asked.url.searchParams.get('page_cursor') ?? ''
          const limit = asked.url.searchParams.get('limit') ?? ''
          const next = /"next_page_cursor":"([^"]*)"/.exec(text)?.[1]
          if (isList(asked) && next !== undefined) limits.set(next, limit)
          const known = limits.get(given)
          return known !== undefined && known !== limit ? problem(400, asked) : {}
        },
      }
    }) as () => Wrong,
  },
  {
    fault: 'answers null for an empty list',
    breaks: ['paging.empty'],
    wrong: {
      answer: (answered, asked) =>
        isEmpty(answered) && isList(asked) ? { text: answered.text.replace('[]', 'null') } : {},
    },
  },
  {
    fault: 'answers 404 for an empty list',
    breaks: ['paging.empty', 'isolation.statements', 'past.versions'],
    wrong: refuses(404, (answered, asked) => isEmpty(answered) && isList(asked)),
  },
  {
    fault: 'names an envelope otherwise',
    breaks: ['paging.envelope'],
    wrong: replaced(/^\{"issuer_quote_executions"/, '{"items"'),
  },
  {
    fault: 'answers a list as text',
    breaks: ['paging.envelope'],
    wrong: {
      answer: ({ status, headers }, asked) => {
        if (status !== 200 || !isList(asked)) return {}
        return { headers: withHeader(headers, 'content-type', 'text/plain') }
      },
    },
  },
  {
    fault: 'answers 500 to limit=1000',
    breaks: ['parameters.limit-max', 'answers.server-errors'],
    wrong: refuses(
      500,
      (_, asked) => isList(asked) && asked.url.searchParams.get('limit') === '1000',
    ),
  },
  {
    fault: 'accepts a limit above the largest',
    breaks: ['parameters.limit'],
    wrong: takes('limit', '1001', '1000'),
  },
  {
    fault: 'accepts a limit of 0',
    breaks: ['parameters.limit', 'problems.bad-request'],
    wrong: ignoresValue('limit', '0'),
  },
]

const sorted = (items: Json[], key: (item: Json) => string): Json[] =>
  items.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))

const order: readonly WrongServerCase[] = [
  {
    fault: 'ignores order=ASC',
    breaks: ['order.ascending', 'cursors.order'],
    wrong: withQuery((query) => query.delete('order'), isAscending),
  },
  {
    fault: 'answers the newest of order=ASC first',
    breaks: ['order.ascending'],
    wrong: eachPage((items) => items.toReversed(), isAscending),
  },
  {
    fault: 'answers the oldest of order=DESC first',
    breaks: ['order.descending'],
    wrong: takes('order', 'DESC', 'ASC'),
  },
  {
    fault: 'sorts each page by id',
    breaks: ['order.default', 'order.ascending', 'order.descending', 'paging.limit-change'],
    wrong: eachPage((items) => sorted(items, ({ id }) => id).toReversed()),
  },
  {
    fault: 'breaks ties in the other direction',
    breaks: ['order.ties'],
    wrong: eachPage((items, { url }) => {
      if (url.searchParams.get('limit') !== '1000') return items
      const name = items[0]?.period_start === undefined ? 'created_at' : 'period_start'
      return [...Map.groupBy(items, (item) => item[name]).values()].flatMap((tied) =>
        tied.toReversed(),
      )
    }),
  },
  {
    fault: 'accepts an order in lower case',
    breaks: ['parameters.order'],
    wrong: takes('order', 'asc', 'ASC'),
  },
]

function isAscending(asked: Asked): boolean {
  return isList(asked) && asked.url.searchParams.get('order') === 'ASC'
}

/** Starts at the first page again, where the correct server refuses a cursor. */
const startsAgain = (isMeant: (answered: Answered, asked: Asked) => boolean): Wrong => ({
  answer: (answered, asked, again) =>
    answered.status === 400 && isMeant(answered, asked)
      ? again({ ...asked, url: changedUrl(asked, (query) => query.delete('page_cursor')) })
      : {},
})

const cursors: readonly WrongServerCase[] = [
  {
    fault: 'starts again at a cursor that it cannot read',
    breaks: [
      'cursors.altered',
      'cursors.order',
      'cursors.filters',
      'cursors.list',
      'isolation.cursors',
      'events.isolation',
    ],
    wrong: startsAgain((_, asked) => asks(asked, 'page_cursor')),
  },
  ...[
    { code: 'other_order', breaks: ['cursors.order'] },
    { code: 'other_filters', breaks: ['cursors.filters'] },
    { code: 'other_list', breaks: ['cursors.list'] },
  ].map(({ code, breaks }) => ({
    fault: `accepts a cursor of ${code.replace('_', ' ')}`,
    breaks,
    wrong: startsAgain(({ text }) => text.includes(code)),
  })),
  {
    fault: 'answers 500 to an altered cursor',
    breaks: [
      'cursors.altered',
      'isolation.cursors',
      'answers.server-errors',
      'events.isolation',
      'events.wait',
    ],
    wrong: refuses(
      500,
      ({ status, text }, asked) =>
        status === 400 &&
        asks(asked, 'page_cursor') &&
        !text.includes('other_') &&
        asked.url.searchParams.get('page_cursor') !== 'invented',
    ),
  },
  {
    fault: 'pads its cursors',
    breaks: ['cursors.form'],
    wrong: {
      ...withQuery((query) => {
        const cursor = query.get('page_cursor')
        if (cursor !== null) query.set('page_cursor', cursor.replace(/=+$/, ''))
      }),
      ...replaced(/(?<="next_page_cursor":"[^"]+)"/, '=="'),
    },
  },
  {
    fault: 'refuses an empty page_cursor',
    breaks: ['cursors.empty'],
    wrong: refuses(
      400,
      (_, asked) => isList(asked) && asked.url.searchParams.get('page_cursor') === '',
    ),
  },
]

/** Drops a filter where another stands beside it. */
const ignoresBeside = (name: string, other: string): Wrong =>
  withQuery((query) => {
    if (query.has(other)) query.delete(name)
  })

const filters: readonly WrongServerCase[] = [
  ...[
    { name: 'status', breaks: ['filters.status'] },
    { name: 'statuses', breaks: ['filters.statuses'] },
    { name: 'account_ids', breaks: ['filters.account_ids', 'additions.account_ids'] },
    { name: 'networks', breaks: ['additions.networks'] },
    { name: 'memo_ids', breaks: ['additions.memo_ids'] },
    { name: 'profile_id', breaks: ['filters.profile_id'] },
  ].map(({ name, breaks }) => ({
    fault: `ignores the filter ${name}`,
    breaks,
    wrong: withQuery((query) => {
      if (query.get(name) !== 'NO_SUCH_VALUE' && query.getAll(name).length < 100) {
        query.delete(name)
      }
    }),
  })),
  ...[
    { name: 'ids', breaks: ['filters.ids', 'additions.ids'] },
    { name: 'ref_ids', breaks: ['filters.ref_ids', 'additions.ref_ids'] },
    { name: 'statement_ids', breaks: ['filters.statement_ids'] },
    { name: 'profile_ids', breaks: ['filters.profile_ids', 'additions.profile_ids'] },
    { name: 'identity_ids', breaks: ['filters.identity_ids', 'additions.identity_ids'] },
    { name: 'addresses', breaks: ['additions.addresses'] },
  ].map(({ name, breaks }) => ({
    fault: `takes the first value of ${name} only`,
    breaks,
    wrong: withQuery((query) => {
      const values = query.getAll(name)
      if (values.length > 1 && values.length < 100) query.set(name, values[0] ?? '')
    }),
  })),
  {
    fault: 'shows a record of another profile under profile_ids',
    breaks: ['filters.profile_ids'],
    wrong: {
      answer: async (answered, asked, again) => {
        const wanted = asked.url.searchParams.getAll('profile_ids')
        const isMeant =
          isList(asked, 'deposit-addresses') && /^\?profile_ids=/.test(asked.url.search)
        if (
          !isMeant ||
          answered.status !== 200 ||
          /created|_ids=.*(?<!profile)_ids=/.test(asked.url.search)
        )
          return {}
        const url = changedUrl(asked, (query) => query.delete('profile_ids'))
        const every = JSON.parse((await again({ ...asked, url })).text)
        const other = every.items.find((item: Json) => !wanted.includes(item.profile_id))
        const body = JSON.parse(answered.text)
        return { text: JSON.stringify({ ...body, items: [...body.items, other].filter(Boolean) }) }
      },
    },
  },
  {
    fault: 'answers 500 to account_ids',
    breaks: ['filters.account_ids', 'answers.server-errors'],
    wrong: refuses(
      500,
      (_, asked) => isList(asked, 'deposit-addresses') && asks(asked, 'account_ids'),
    ),
  },
  {
    fault: 'ignores status beside profile_id',
    breaks: ['filters.combined'],
    wrong: ignoresBeside('status', 'profile_id'),
  },
  {
    fault: 'ignores statuses beside ref_ids',
    breaks: ['filters.combined'],
    wrong: ignoresBeside('statuses', 'ref_ids'),
  },
  {
    fault: 'ignores networks beside identity_ids',
    breaks: ['filters.combined'],
    wrong: ignoresBeside('networks', 'identity_ids'),
  },
  {
    fault: 'ignores a bound beside profile_ids',
    breaks: ['filters.combined'],
    wrong: ignoresBeside('created_at.lte', 'profile_ids'),
  },
  {
    fault: 'joins ids and ref_ids by OR',
    breaks: ['filters.combined'],
    wrong: {
      answer: async (answered, asked, again) => {
        if (answered.status !== 200 || !isList(asked) || !asks(asked, 'ids', 'ref_ids')) return {}
        const url = changedUrl(asked, (query) => query.delete('ref_ids'))
        const byIds = JSON.parse((await again({ ...asked, url })).text)
        const body = JSON.parse(answered.text)
        const name = envelopeOf(body)
        const every = [...byIds[name], ...body[name]]
        const known = [...new Map(every.map((item) => [item.id, item])).values()]
        return { text: JSON.stringify({ ...body, [name]: known }) }
      },
    },
  },
  ...[
    ['gte', 'gt'],
    ['lte', 'lt'],
    ['lt', 'lte'],
    ['gt', 'gte'],
  ].map(([right, wrong]) => ({
    fault: `takes created_at.${right} as created_at.${wrong}`,
    breaks: [`filters.created_at.${right}`, 'events.bounds'],
    wrong: {
      request: (asked: Asked) => ({
        url: new URL(asked.url.href.replace(`created_at.${right}=`, `created_at.${wrong}=`)),
      }),
    },
  })),
  {
    fault: 'compares created_at.eq by the second',
    breaks: ['filters.created_at.eq'],
    wrong: {
      answer: async (answered, asked, again) => {
        const time = asked.url.searchParams.get('created_at.eq')
        if (answered.status !== 200 || !isList(asked) || time === null) return {}
        const second = time.slice(0, 19)
        const url = changedUrl(asked, (query) => {
          query.delete('created_at.eq')
          query.set('created_at.gte', `${second}Z`)
          query.set('created_at.lte', `${second}.999999Z`)
        })
        return again({ ...asked, url })
      },
    },
  },
  ...['begin', 'end'].map((side) => ({
    fault: `excludes the ${side} of created_range`,
    breaks: [`filters.created_range.${side}`],
    wrong: {
      answer: ({ status, text }, asked) => {
        const bound = asked.url.searchParams.get(`created_range.${side}`)
        if (status !== 200 || bound === null) return {}
        const body = JSON.parse(text)
        const name = envelopeOf(body)
        const kept = body[name].filter((item: Json) => item.created_at !== bound)
        return { text: JSON.stringify({ ...body, [name]: kept }) }
      },
    } satisfies Wrong,
  })),
]

const parameters: readonly WrongServerCase[] = [
  {
    fault: 'refuses order_by=CREATED_AT',
    breaks: ['parameters.order-by'],
    wrong: refuses(400, (_, asked) => asked.url.searchParams.get('order_by') === 'CREATED_AT'),
  },
  {
    fault: 'ignores another order_by',
    breaks: ['parameters.order-by-others'],
    wrong: ignoresValue('order_by', 'UPDATED_AT'),
  },
  {
    fault: 'ignores a flag that is none',
    breaks: ['parameters.include-deleted'],
    wrong: ignoresValue('include_deleted', 'maybe'),
  },
  {
    fault: 'ignores an id that is none',
    breaks: ['parameters.record-ids'],
    wrong: withQuery((query) => {
      for (const [name, value] of [...query]) if (value === 'no-uuid') query.delete(name)
    }),
  },
  ...['ids', 'ref_ids', 'profile_ids', 'memo_ids', 'addresses'].map((name) => ({
    fault: `accepts 101 entries of ${name}`,
    breaks: ['ids', 'ref_ids', 'profile_ids'].includes(name)
      ? ['parameters.entries', 'parameters.extra-entries']
      : ['parameters.extra-entries'],
    wrong: withQuery((query) => {
      const values = query.getAll(name)
      if (values.length !== 101) return
      query.delete(name)
      for (const value of values.slice(1)) query.append(name, value)
    }),
  })),
  {
    fault: 'refuses 100 entries of identity_ids',
    breaks: ['parameters.entries'],
    wrong: refuses(
      400,
      (_, asked) =>
        isList(asked, 'deposit-addresses') &&
        asked.url.searchParams.getAll('identity_ids').length === 100,
    ),
  },
  {
    fault: 'ignores a date that is none',
    breaks: ['parameters.dates', 'past.future'],
    wrong: withQuery((query) => {
      for (const [name, value] of [...query]) if (value === 'yesterday') query.delete(name)
    }),
  },
  {
    fault: 'ignores an unknown status',
    breaks: ['parameters.enums'],
    wrong: withQuery((query) => {
      for (const name of ['status', 'statuses']) {
        if (query.get(name) === 'NO_SUCH_VALUE') query.delete(name)
      }
    }),
  },
  {
    fault: 'lists statements without customer_id',
    breaks: ['parameters.customer-id'],
    wrong: withQuery(
      (query) => query.set('customer_id', 'borealis'),
      (asked) =>
        isList(asked, '/statements') &&
        asked.headers.has('authorization') &&
        asked.url.search === '',
    ),
  },
  {
    fault: 'does not name ignored parameters',
    breaks: ['parameters.unknown'],
    wrong: drops('x-ignored-parameters'),
  },
  {
    fault: 'takes the last of two limits',
    breaks: ['parameters.repeated'],
    wrong: withQuery((query) => {
      const limit = query.getAll('limit').at(-1)
      if (limit !== undefined) query.set('limit', limit)
    }),
  },
  {
    fault: 'does not know ids[]',
    breaks: ['parameters.brackets'],
    wrong: withQuery((query) => {
      for (const name of [...query.keys()]) if (/\[\]$/.test(name)) query.delete(name)
    }),
  },
  {
    fault: 'compares ids by case',
    breaks: ['parameters.id-case', 'reads.id-case'],
    wrong: {
      answer: (answered, asked) => {
        const id = /\w{8}(-\w{4}){3}-\w{12}/.exec(asked.url.pathname + asked.url.search)?.[0] ?? ''
        if (answered.status !== 200 || !/[A-F]/.test(id)) return {}
        return isList(asked)
          ? { text: JSON.stringify({ [envelopeOf(JSON.parse(answered.text))]: [] }) }
          : problem(404, asked)
      },
    },
  },
]

export const ofLists: readonly WrongServerCase[] = [
  ...paging,
  ...order,
  ...cursors,
  ...filters,
  ...parameters,
]

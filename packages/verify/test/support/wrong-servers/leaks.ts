import type { Asked, Wrong } from '../wrong-server.ts'
import {
  answeredWith,
  asks,
  changedUrl,
  eachItem,
  isAccount,
  isAccounts,
  isEmpty,
  isFee,
  isList,
  isSingle,
  type Json,
  json,
  problem,
  replaced,
  statusOf,
  takes,
  type World,
  type WrongServerCase,
  withQuery,
  withToken,
} from './mutations.ts'

/** What a server does that does not mask the numbers of these lists. */
const unmasks = (isMeant: (asked: Asked) => boolean) =>
  replaced(
    /(?<="account_number":")X+/g,
    (masked) => '7'.repeat(masked.length),
    (asked) => isAccounts(asked) && isMeant(asked),
  )

const namesOwner = (isMeant: (asked: Asked) => boolean) =>
  replaced(
    /(?<="fiat_account_owner":)\{\}/g,
    '{"institution_details":{"name":"First Sample Company"}}',
    (asked) => isAccounts(asked) && isMeant(asked),
  )

/** Account numbers, owners and addresses in List Fiat Accounts. */
const masking: readonly WrongServerCase[] = [
  {
    fault: 'shows whole account numbers in a list',
    breaks: ['masking.account-numbers'],
    wrong: unmasks(() => true),
  },
  ...[
    ['ids'],
    ['ref_ids'],
    ['created_at.eq'],
    ['created_at.lt'],
    ['include_deleted', 'ref_ids'],
    ['page_cursor'],
    ['order'],
  ].map((names) => ({
    fault: `shows whole account numbers under ${names.join(' and ')}`,
    breaks: ['masking.account-numbers'],
    wrong: unmasks((asked) => asks(asked, ...names)),
  })),
  {
    fault: 'shows whole account numbers to include_deleted=true',
    breaks: ['masking.account-numbers'],
    wrong: unmasks(({ url }) => url.searchParams.get('include_deleted') === 'true'),
  },
  {
    fault: 'masks every account number but that of rtp',
    breaks: ['masking.account-numbers'],
    wrong: eachItem((item) => {
      const { rtp } = item.fiat_network_instructions
      if (rtp !== undefined) rtp.account_number = rtp.account_number.replaceAll('X', '7')
      return item
    }, isAccounts),
  },
  {
    fault: 'shows the last six digits of an account number',
    breaks: ['masking.account-numbers'],
    wrong: replaced(/XX(?=\w{4}")/g, '77', isAccounts),
  },
  {
    fault: 'shows the whole number of the oldest account alone',
    breaks: ['masking.account-numbers'],
    client: 'acme',
    only: ['masking'],
    wrong: unmasks(({ url }) => /^\?limit=1000&page_cursor=/.test(url.search)),
  },
  {
    fault: 'masks an account number to another length',
    breaks: ['masking.length'],
    wrong: replaced(/(?<="account_number":")X+/g, 'XXXX', isAccounts),
  },
  {
    fault: 'masks account numbers that are read alone',
    breaks: ['masking.full-read'],
    wrong: replaced(
      /(?<="account_number":")[^"]+(?=\w{4}")/g,
      (number) => 'X'.repeat(number.length),
      isAccount,
    ),
  },
  {
    fault: 'shows the owner of an account in a list',
    breaks: ['masking.owner'],
    wrong: namesOwner(() => true),
  },
  ...[['include_deleted'], ['ids'], ['created_at.gte'], ['ref_ids', 'include_deleted']].map(
    (names) => ({
      fault: `shows owners under ${names.join(' and ')}`,
      breaks: ['masking.owner'],
      wrong: namesOwner((asked) => asks(asked, ...names)),
    }),
  ),
  {
    fault: 'shows streets in a list',
    breaks: ['masking.addresses'],
    wrong: replaced(/(?<=_address":\{)/g, '"address1":"20 Harbour Way",', isAccounts),
  },
  {
    fault: 'shows streets under ref_ids',
    breaks: ['masking.addresses'],
    wrong: replaced(
      /(?<=_address":\{)/g,
      '"address1":"20 Harbour Way",',
      (asked) => isAccounts(asked) && asks(asked, 'ref_ids'),
    ),
  },
  {
    fault: 'leaves the metadata out of wire',
    breaks: ['masking.wire'],
    wrong: eachItem((item) => {
      delete item.fiat_network_instructions.wire?.metadata
      return item
    }, isAccounts),
  },
]

/** Answers the requests that are meant although they have no token. */
const withoutToken =
  (isMeant: (asked: Asked) => boolean) =>
  ({ ownToken }: World): Wrong =>
    answeredWith(ownToken, (asked) => isMeant(asked) && !asked.headers.has('authorization'))

/** Answers the requests that are meant although the token lacks their scope. */
const withoutScope =
  (isMeant: (asked: Asked) => boolean) =>
  ({ ownToken }: World): Wrong =>
    answeredWith(ownToken, isMeant, ({ status }) => status === 403)

/** Tokens and scopes. */
const scopes: readonly WrongServerCase[] = [
  {
    fault: 'answers records without a token',
    breaks: ['authorization.required', 'authorization.challenge'],
    wrong: withoutToken(isList),
  },
  {
    fault: 'answers statements by id without a token',
    breaks: ['authorization.required'],
    wrong: withoutToken((asked) => isList(asked) && asks(asked, 'statement_ids')),
  },
  {
    fault: 'answers single records without a token',
    breaks: ['authorization.reads-required'],
    wrong: withoutToken(isSingle),
  },
  {
    fault: 'does not check the signature of a token',
    breaks: ['authorization.invalid-token'],
    wrong: ({ ownToken }) =>
      answeredWith(
        ownToken,
        ({ headers }) => /A{86}$/.test(headers.get('authorization') ?? ''),
        ({ status }) => status === 401,
      ),
  },
  {
    fault: 'ignores the scope of a token',
    breaks: [
      'authorization.scope',
      'authorization.reads-scope',
      'authorization.scope-challenge',
      'authorization.fee-scope',
      'events.scope',
    ],
    wrong: withoutScope(() => true),
  },
  {
    fault: 'ignores the scope for single reads',
    breaks: ['authorization.reads-scope'],
    wrong: withoutScope(isSingle),
  },
  {
    fault: 'ignores the scope for single reads with include_deleted',
    breaks: ['authorization.reads-scope'],
    wrong: withoutScope((asked) => isSingle(asked) && asks(asked, 'include_deleted')),
  },
  {
    fault: 'answers further pages without a token',
    breaks: ['authorization.required'],
    wrong: withoutToken((asked) => isList(asked) && asks(asked, 'page_cursor')),
  },
  ...[
    'ref_ids',
    'memo_ids',
    'addresses',
    'created_range.end',
    'created_at.eq',
    'page_cursor',
    'include_deleted',
  ].map((name) => ({
    fault: `ignores the scope under ${name}`,
    breaks: ['authorization.scope'],
    wrong: withoutScope((asked) => isList(asked) && asks(asked, name)),
  })),
  {
    fault: 'quotes fees without the scope',
    breaks: ['authorization.fee-scope'],
    wrong: withoutScope(isFee),
  },
  {
    fault: 'answers 404 for a missing scope',
    breaks: ['authorization.scope-challenge', 'authorization.fee-scope'],
    wrong: statusOf(403, 404),
  },
]

/** What a server does that looks further for what the customer does not have. */
const findsForeign =
  (isMeant: (asked: Asked, world: World) => boolean) =>
  (world: World): Wrong =>
    answeredWith(world.foreignToken, (asked) => isMeant(asked, world), isEmpty)

const namesForeign = ({ url }: Asked, { foreignCustomer }: World): boolean =>
  url.searchParams.get('customer_id') === foreignCustomer

/** Records of other customers. */
const isolation: readonly WrongServerCase[] = [
  {
    fault: 'answers a record of another customer',
    breaks: ['isolation.reads', 'past.reads'],
    wrong: ({ foreignToken }) =>
      answeredWith(foreignToken, isSingle, ({ status }) => status === 404),
  },
  {
    fault: 'answers a deleted account of another customer',
    breaks: ['isolation.reads'],
    wrong: ({ foreignToken }) =>
      answeredWith(
        foreignToken,
        (asked) => isSingle(asked) && asks(asked, 'include_deleted'),
        ({ status }) => status === 404,
      ),
  },
  {
    fault: 'answers 403 for a record of another customer',
    breaks: ['isolation.reads'],
    wrong: ({ foreignToken }) => ({
      answer: async ({ status }, asked, again) => {
        if (status !== 404 || !isSingle(asked)) return {}
        const foreign = await again(withToken(asked, foreignToken))
        return foreign.status === 200 ? problem(403, asked) : {}
      },
    }),
  },
  ...[
    ['ids'],
    ['ref_ids'],
    ['memo_ids'],
    ['addresses'],
    ['profile_ids'],
    ['profile_id'],
    ['account_ids'],
    ['identity_ids'],
    ['statement_ids'],
    ['include_deleted', 'ids'],
  ].map((names) => ({
    fault: `filters the records of every customer by ${names.join(' and ')}`,
    breaks: ['statement_ids', 'ref_ids'].some((name) => names.includes(name))
      ? ['isolation.filters', 'isolation.statements']
      : ['isolation.filters'],
    wrong: ({ foreignToken, foreignCustomer }: World) => ({
      answer: async (
        answered: Json,
        asked: Asked,
        again: (asked: Asked) => Promise<Json>,
      ): Promise<Json> => {
        if (!isEmpty(answered) || !isList(asked) || !asks(asked, ...names)) return {}
        if (asks(asked, 'as_of')) return {}
        const url = changedUrl(asked, (query) => {
          if (query.has('customer_id')) query.set('customer_id', foreignCustomer)
        })
        return again(withToken({ ...asked, url }, foreignToken))
      },
    }),
  })),
  {
    fault: 'shows records of every customer at a time',
    breaks: ['isolation.filters'],
    wrong: ({ foreignToken }) => ({
      answer: async ({ status, text }, asked, again) => {
        if (status !== 200 || !isAccounts(asked) || !asks(asked, 'created_at.eq')) return {}
        const own = JSON.parse(text)
        const others = JSON.parse((await again(withToken(asked, foreignToken))).text)
        return { text: JSON.stringify({ ...own, items: [...own.items, ...others.items] }) }
      },
    }),
  },
  ...['order', 'include_deleted', 'page_cursor', 'created_at.gte'].map((name) => ({
    fault: `adds an account of another customer under ${name}`,
    breaks: ['isolation.filters'],
    // The foreign record is in no other answer, so filters and orders miss it.
    only: ['isolation'],
    wrong: ({ foreignToken }: World): Wrong => ({
      answer: async ({ status, text }, asked, again) => {
        if (status !== 200 || !isAccounts(asked) || !asks(asked, name)) return {}
        const url = changedUrl(asked, (query) => {
          for (const each of [...query.keys()]) query.delete(each)
        })
        const own = JSON.parse(text)
        const others = JSON.parse((await again(withToken({ ...asked, url }, foreignToken))).text)
        return { text: JSON.stringify({ ...own, items: [...own.items, others.items[0]] }) }
      },
    }),
  })),
  {
    fault: 'shows the statements of another customer',
    breaks: ['isolation.statements'],
    wrong: findsForeign(namesForeign),
  },
  {
    fault: 'shows the statements of another customer by status',
    breaks: ['isolation.statements'],
    wrong: findsForeign((asked, world) => namesForeign(asked, world) && asks(asked, 'statuses')),
  },
  {
    fault: 'names another customer in a record',
    breaks: ['isolation.own-customer'],
    wrong: replaced(/"customer_id":"borealis"/, '"customer_id":"acme"', (asked) =>
      isList(asked, 'deposit-addresses'),
    ),
  },
  {
    fault: 'shows a list of another customer',
    breaks: ['isolation.own-customer', 'isolation.lists'],
    // The records that it shows cannot be filtered, nor found again.
    only: ['isolation'],
    wrong: ({ foreignToken }) =>
      answeredWith(
        foreignToken,
        ({ url }) => url.href.endsWith('deposit-addresses?limit=1000'),
        ({ status }) => status === 200,
      ),
  },
  {
    fault: 'starts again at the cursor of another customer',
    breaks: ['isolation.cursors'],
    wrong: ({ foreignToken }) => ({
      answer: async ({ status }, asked, again) => {
        if (status !== 400 || !isList(asked) || !asks(asked, 'page_cursor')) return {}
        const foreign = await again(withToken(asked, foreignToken))
        const url = changedUrl(asked, (query) => query.delete('page_cursor'))
        return foreign.status === 200 ? again({ ...asked, url }) : {}
      },
    }),
  },
  {
    fault: 'introspects the tokens of another customer',
    breaks: ['isolation.introspection'],
    wrong: {
      answer: ({ text }, { url }) =>
        url.pathname === '/oauth2/introspect' && text.includes('false')
          ? json({ active: true, customer_id: 'acme' })
          : {},
    },
  },
]

/** Deleted accounts. */
const deleted: readonly WrongServerCase[] = [
  {
    fault: 'shows a deleted account alone',
    breaks: ['reads.deleted', 'past.reads'],
    wrong: withQuery((query) => query.set('include_deleted', 'true'), isSingle),
  },
  ...['ids', 'ref_ids', 'created_at.eq', 'created_at.lte'].map((name) => ({
    fault: `shows a deleted account under ${name}`,
    breaks: ['filters.deleted'],
    wrong: withQuery(
      (query) => query.set('include_deleted', 'true'),
      (asked) =>
        isAccounts(asked) &&
        asks(asked, name) &&
        !['include_deleted', 'as_of'].some((other) => asks(asked, other)),
    ),
  })),
  {
    fault: 'shows deleted accounts to order=ASC',
    breaks: ['filters.deleted'],
    wrong: withQuery(
      (query) => query.set('include_deleted', 'true'),
      (asked) =>
        isAccounts(asked) &&
        asked.url.searchParams.get('order') === 'ASC' &&
        !asks(asked, 'include_deleted') &&
        !asked.url.search.includes('created_at'),
    ),
  },
  {
    fault: 'shows deleted accounts to include_deleted=false',
    breaks: ['filters.include_deleted', 'filters.deleted'],
    wrong: takes('include_deleted', 'false', 'true'),
  },
  {
    fault: 'ignores include_deleted beside ids',
    breaks: ['filters.deleted'],
    wrong: withQuery(
      (query) => query.delete('include_deleted'),
      (asked) => isAccounts(asked) && asks(asked, 'ids'),
    ),
  },
  {
    fault: 'leaves live accounts out of include_deleted=true',
    breaks: ['filters.include_deleted'],
    wrong: {
      answer: (answered, asked) => {
        const isMeant =
          isAccounts(asked) && asked.url.search.startsWith('?include_deleted=true&limit')
        if (!isMeant || answered.status !== 200) return {}
        const body = JSON.parse(answered.text)
        return { text: JSON.stringify({ ...body, items: body.items.slice(-1) }) }
      },
    },
  },
]

export const leaks: readonly WrongServerCase[] = [...masking, ...scopes, ...isolation, ...deleted]

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { type Program, startProgram } from '../support/program.ts'

/**
 * A strict client written from the contract alone. It imports nothing of the service and uses HTTP
 * only, so it can test another implementation: BURSAR_ACCEPTANCE_URL names one with the sandbox's
 * records. One invalid value makes its whole page fail.
 */

let program: Program | undefined
let url = process.env.BURSAR_ACCEPTANCE_URL ?? ''

before(async () => {
  if (url !== '') return
  program = startProgram(['sandbox', '--port', '0', '--json'])
  const banner = JSON.parse(await program.firstLine)
  assert.deepEqual(Object.keys(banner), ['url', 'client_id', 'client_secret'])
  assert.deepEqual([banner.client_id, banner.client_secret], [acme.id, acme.secret])
  url = banner.url
})
after(() => program?.kill())

type Client = { readonly customer: string; readonly id: string; readonly secret: string }

const acme: Client = {
  customer: 'acme',
  id: 'acme_sandbox',
  secret: 'bursar_sandbox_secret_of_acme',
}
const borealis: Client = {
  customer: 'borealis',
  id: 'borealis_sandbox',
  secret: 'bursar_sandbox_secret_of_borealis',
}

// --- Decoders: each takes a value and its position, and throws if the value is malformed.

type Decoder = (value: unknown, at: string) => void

class Malformed extends Error {
  constructor(at: string, expected: string, value: unknown) {
    super(`${at} must be ${expected}, but is ${JSON.stringify(value)}`)
  }
}

const text: Decoder = (value, at) => {
  if (typeof value !== 'string') throw new Malformed(at, 'a string', value)
}

const nonEmpty: Decoder = (value, at) => {
  text(value, at)
  if (value === '') throw new Malformed(at, 'a string that is not empty', value)
}

const matching =
  (pattern: RegExp, meaning: string): Decoder =>
  (value, at) => {
    text(value, at)
    if (!pattern.test(String(value))) throw new Malformed(at, meaning, value)
  }

const uuid = matching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'a UUID in lower case')
const amount = matching(/^[0-9]*\.?[0-9]+$/, 'a decimal string that is not negative')
const signedAmount = matching(/^-?[0-9]*\.?[0-9]+$/, 'a decimal string')
const memo = matching(/^[A-Z0-9]{16}$/, '16 characters of A-Z and 0-9')
const maskedNumber = matching(/^X*.{0,4}$/u, 'masked but for four characters')

const dateForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3}|\.\d{6})?Z$/

/** UTC with Z and 0, 3 or 6 fraction digits, the fewest that keep the exact time. */
const dateTime: Decoder = (value, at) => {
  matching(dateForm, 'a date-time in UTC with 0, 3 or 6 fraction digits')(value, at)
  const printed = String(value)
  if (Number.isNaN(Date.parse(printed))) throw new Malformed(at, 'a date that exists', value)
  if (/000Z$/.test(printed) && printed.includes('.')) {
    throw new Malformed(at, 'printed with the fewest digits', value)
  }
}

const oneOf =
  (...members: readonly string[]): Decoder =>
  (value, at) => {
    if (!members.includes(value as string)) throw new Malformed(at, members.join(' or '), value)
  }

const arrayOf =
  (each: Decoder): Decoder =>
  (value, at) => {
    if (!Array.isArray(value)) throw new Malformed(at, 'an array', value)
    for (const [index, item] of value.entries()) each(item, `${at}[${index}]`)
  }

type Members = Readonly<Record<string, Decoder>>

/** Requires the mandatory members and refuses unknown ones. */
const object =
  (required: Members, optional: Members = {}): Decoder =>
  (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Malformed(at, 'an object', value)
    }
    for (const name of Object.keys(required)) {
      if (!Object.hasOwn(value, name)) throw new Malformed(`${at}.${name}`, 'there', undefined)
    }
    for (const [name, inner] of Object.entries(value)) {
      const decoder = required[name] ?? optional[name]
      if (decoder === undefined) throw new Malformed(`${at}.${name}`, 'known', inner)
      decoder(inner, `${at}.${name}`)
    }
  }

const metadata =
  (pairsMax: number, lengthMax: number): Decoder =>
  (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Malformed(at, 'an object', value)
    }
    const pairs = Object.entries(value)
    if (pairs.length > pairsMax) throw new Malformed(at, `at most ${pairsMax} pairs`, value)
    for (const [key, inner] of pairs) {
      text(inner, `${at}.${key}`)
      if (key.length > lengthMax || inner.length > lengthMax) {
        throw new Malformed(`${at}.${key}`, `at most ${lengthMax} characters`, inner)
      }
    }
  }

// --- The contract, section 2, and the members that the decisions, section 4, require.

const cryptoNetworks = [
  'BITCOIN',
  'ETHEREUM',
  'BITCOIN_CASH',
  'LITECOIN',
  'SOLANA',
  'POLYGON_POS',
  'BASE',
  'ARBITRUM_ONE',
  'STELLAR',
  'INK',
  'XLAYER',
] as const
const fiatAccountStatuses = ['PENDING', 'APPROVED', 'REJECTED'] as const
const statementStatuses = [
  'STATEMENT_STATUS_UNSPECIFIED',
  'STATEMENT_STATUS_INITIATED',
  'STATEMENT_STATUS_GENERATED',
  'STATEMENT_STATUS_PAID',
] as const
const quoteStatuses = ['PENDING', 'COMPLETE', 'FAILED'] as const
const fiatNetworks = ['wire', 'cbit', 'dbs_act', 'cubix', 'scb', 'rtp'] as const

const ascii = matching(/^[ -~]*$/, 'of ASCII characters')
const address = object(
  { country: nonEmpty },
  { address1: ascii, address2: ascii, city: ascii, province: ascii, zip_code: ascii },
)
const country = object({ country: nonEmpty })

const routing = (bankAddress: Decoder): Decoder =>
  object({
    routing_number_type: oneOf('ABA', 'SWIFT'),
    routing_number: nonEmpty,
    bank_name: nonEmpty,
    bank_address: bankAddress,
  })

/** In the rtp network only the number is required. */
const rtpRouting = (bankAddress: Decoder): Decoder =>
  object(
    { routing_number: nonEmpty },
    { routing_number_type: oneOf('ABA', 'SWIFT'), bank_name: nonEmpty, bank_address: bankAddress },
  )

const networks = (where: Decoder, accountNumber: Decoder, inWire: Members = {}): Decoder =>
  object(
    {},
    {
      wire: object(
        {
          account_number: accountNumber,
          fiat_account_owner_address: where,
          routing_details: routing(where),
        },
        { intermediary_routing_details: routing(where), ...inWire },
      ),
      cbit: object({ wallet_address: nonEmpty }),
      dbs_act: object({ account_number: accountNumber }),
      cubix: object({ account_id: nonEmpty }),
      scb: object({ account_number: accountNumber }),
      rtp: object(
        { account_number: accountNumber, routing_details: rtpRouting(where) },
        { fiat_account_owner_address: where },
      ),
    },
  )

const owner = object(
  {},
  {
    person_details: object({ first_name: nonEmpty, last_name: nonEmpty }),
    institution_details: object({ name: nonEmpty }),
  },
)
const withheldOwner = object({})

const accountOptional: Members = {
  ref_id: nonEmpty,
  identity_id: nonEmpty,
  account_id: nonEmpty,
  metadata: metadata(6, 100),
  updated_at: dateTime,
}

const fiatAccount = object(
  {
    id: uuid,
    status: oneOf(...fiatAccountStatuses),
    fiat_network_instructions: networks(address, nonEmpty),
    created_at: dateTime,
  },
  { ...accountOptional, fiat_account_owner: owner },
)

const listedAccount = object(
  {
    id: uuid,
    status: oneOf(...fiatAccountStatuses),
    fiat_network_instructions: networks(country, maskedNumber, {
      status: oneOf(...fiatAccountStatuses),
      metadata: metadata(6, 100),
    }),
    created_at: dateTime,
  },
  { ...accountOptional, fiat_account_owner: withheldOwner },
)

const depositInstructions = object(
  {
    id: uuid,
    profile_id: nonEmpty,
    customer_id: nonEmpty,
    identity_id: nonEmpty,
    status: oneOf('VALID', 'DEPRECATED'),
    memo_id: memo,
    fiat_network_instructions: networks(address, nonEmpty),
    created_at: dateTime,
  },
  {
    account_id: nonEmpty,
    ref_id: nonEmpty,
    fiat_account_owner: owner,
    metadata: metadata(50, 500),
  },
)

const depositAddress = object(
  {
    id: uuid,
    profile_id: nonEmpty,
    customer_id: nonEmpty,
    crypto_network: oneOf(...cryptoNetworks),
    address: nonEmpty,
    conversion_target_asset: oneOf('NO_CONVERSION', 'USD'),
    compatible_crypto_networks: arrayOf(oneOf(...cryptoNetworks)),
    created_at: dateTime,
  },
  { identity_id: nonEmpty, account_id: nonEmpty, ref_id: nonEmpty, metadata: metadata(50, 500) },
)

const statement = object(
  {
    id: uuid,
    customer_id: nonEmpty,
    type: oneOf('STATEMENT_TYPE_USDG_REWARD'),
    product: oneOf('USDG_REWARDS'),
    status: oneOf(...statementStatuses),
    statement_balances: arrayOf(
      object({ asset: nonEmpty, amount_paid: amount, total_amount_owed: amount }),
    ),
    period_start: dateTime,
    period_end: dateTime,
    created_at: dateTime,
  },
  { ref_id: nonEmpty, metadata: metadata(50, 500), generated_at: dateTime, paid_at: dateTime },
)

const issuerQuote = object(
  {
    id: uuid,
    created_at: dateTime,
    asset_type: nonEmpty,
    principal: amount,
    fee: amount,
    status: oneOf(...quoteStatuses),
    token_fee: amount,
    token_price: amount,
    token_principal: signedAmount,
    profile_id: nonEmpty,
  },
  { ref_id: nonEmpty },
)

// --- The client: a token, pages, records.

const tokens = new Map<string, Promise<string>>()

function tokenOf({ id, secret }: Client): Promise<string> {
  const token = tokens.get(id) ?? fetchToken(id, secret)
  tokens.set(id, token)
  return token
}

async function fetchToken(id: string, secret: string): Promise<string> {
  const form = new FormData()
  for (const [name, value] of Object.entries({
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret,
  })) {
    form.set(name, value)
  }
  const response = await fetch(`${url}/oauth2/token`, { method: 'POST', body: form })
  assert.equal(response.status, 200)
  const body = (await response.json()) as Record<string, unknown>
  object({
    access_token: nonEmpty,
    token_type: oneOf('bearer'),
    expires_in: (value, at) => {
      if (typeof value !== 'number') throw new Malformed(at, 'a number', value)
    },
    scope: nonEmpty,
  })(body, 'token')
  return String(body.access_token)
}

// biome-ignore lint/suspicious/noExplicitAny: the decoders have checked the record
type Json = Record<string, any>

async function read(client: Client, path: string): Promise<Json> {
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${await tokenOf(client)}`, accept: 'application/json' },
  })
  assert.equal(response.status, 200, path)
  assert.equal(response.headers.get('content-type'), 'application/json')
  return (await response.json()) as Json
}

type List = {
  readonly path: string
  readonly envelope: string
  readonly item: Decoder
  readonly sortedBy: string
  readonly query?: (client: Client) => string
}

const lists: Readonly<Record<string, List>> = {
  'fiat accounts': {
    path: '/v2/transfer/fiat-accounts',
    envelope: 'items',
    item: listedAccount,
    sortedBy: 'created_at',
  },
  'fiat accounts, deleted ones too': {
    path: '/v2/transfer/fiat-accounts',
    envelope: 'items',
    item: listedAccount,
    sortedBy: 'created_at',
    query: () => 'include_deleted=true&',
  },
  statements: {
    path: '/v2/statements',
    envelope: 'statements',
    item: statement,
    sortedBy: 'period_start',
    query: ({ customer }) => `customer_id=${customer}&`,
  },
  'fiat deposit instructions': {
    path: '/v2/transfer/fiat-deposit-instructions',
    envelope: 'items',
    item: depositInstructions,
    sortedBy: 'created_at',
  },
  'deposit addresses': {
    path: '/v2/transfer/deposit-addresses',
    envelope: 'items',
    item: depositAddress,
    sortedBy: 'created_at',
  },
  'issuer quote executions': {
    path: '/v2/issuer-quotes',
    envelope: 'issuer_quote_executions',
    item: issuerQuote,
    sortedBy: 'created_at',
  },
}

/** Reads every page of a list and decodes each before it requests the next. */
async function readAll(client: Client, list: List, limit = 100): Promise<Json[]> {
  const page = object({ [list.envelope]: arrayOf(list.item) }, { next_page_cursor: nonEmpty })
  const items: Json[] = []
  let cursor: string | undefined
  do {
    const query = `${list.query?.(client) ?? ''}limit=${limit}&page_cursor=${cursor ?? ''}`
    const body = await read(client, `${list.path}?${query}`)
    page(body, list.path)
    const found: Json[] = body[list.envelope]
    assert.ok(found.length <= limit)
    // Contract, section 4.6: only the last page may be shorter than the limit.
    assert.equal(found.length < limit && body.next_page_cursor !== undefined, false)
    items.push(...found)
    cursor = body.next_page_cursor
  } while (cursor !== undefined)
  return items
}

const listNamed = (name: string): List => {
  const list = lists[name]
  assert.ok(list !== undefined)
  return list
}

const sortable = (printed: string): string => {
  const [whole = '', fraction = ''] = printed.replace('Z', '').split('.')
  return `${whole}.${fraction.padEnd(6, '0')}`
}

for (const client of [acme, borealis]) {
  describe(client.customer, () => {
    for (const [name, list] of Object.entries(lists)) {
      test(`every page of ${name} decodes, with each record once and in order`, async () => {
        const items = await readAll(client, list)
        assert.ok(items.length > 0)
        const keys = items.map((item) => `${sortable(item[list.sortedBy])} ${item.id}`)
        assert.deepEqual(keys, keys.toSorted().toReversed())
        assert.equal(new Set(keys).size, keys.length)
        const whole = await readAll(client, list, 1000)
        assert.deepEqual(whole, items)
        for (const { customer_id = client.customer } of items) {
          assert.equal(customer_id, client.customer)
        }
      })
    }

    test('every fiat account decodes alone and equals its list item, apart from masking', async () => {
      const listed = await readAll(client, listNamed('fiat accounts'), 1000)
      for (const item of listed.slice(0, 200)) {
        const account = await read(client, `/v2/transfer/fiat-accounts/${item.id}`)
        fiatAccount(account, item.id)
        const { fiat_network_instructions: _, fiat_account_owner: __, ...plain } = account
        const { fiat_network_instructions: ___, fiat_account_owner: ____, ...shown } = item
        assert.deepEqual(shown, plain)
        assert.deepEqual(numbersOf(item), numbersOf(account).map(masked))
      }
    })

    test('all deposit instructions decode alone and equal their list items', async () => {
      for (const item of await readAll(client, listNamed('fiat deposit instructions'), 1000)) {
        const alone = await read(client, `/v2/transfer/fiat-deposit-instructions/${item.id}`)
        depositInstructions(alone, item.id)
        assert.deepEqual(alone, item)
      }
    })
  })
}

const masked = (number: string): string =>
  number.length <= 4 ? 'X'.repeat(number.length) : 'X'.repeat(number.length - 4) + number.slice(-4)

const numbersOf = ({ fiat_network_instructions: given }: Json): string[] =>
  fiatNetworks.flatMap((network) => given[network]?.account_number ?? [])

describe('the sandbox', () => {
  const all = async (name: string) => [
    ...(await readAll(acme, listNamed(name), 1000)),
    ...(await readAll(borealis, listNamed(name), 1000)),
  ]
  const has = (found: readonly unknown[], members: readonly string[]) =>
    assert.deepEqual(
      members.filter((member) => !found.includes(member)),
      [],
    )

  test('has every status of every kind', async () => {
    const statusesOf = async (name: string) => (await all(name)).map(({ status }) => status)
    has(await statusesOf('fiat accounts'), fiatAccountStatuses)
    has(await statusesOf('statements'), statementStatuses)
    has(await statusesOf('issuer quote executions'), quoteStatuses)
    has(await statusesOf('fiat deposit instructions'), ['VALID', 'DEPRECATED'])
  })

  test('has every crypto network, alone and among others, and both conversion targets', async () => {
    const addresses = await all('deposit addresses')
    has(
      addresses.map(({ crypto_network }) => crypto_network),
      cryptoNetworks,
    )
    has(
      addresses.map(({ conversion_target_asset }) => conversion_target_asset),
      ['NO_CONVERSION', 'USD'],
    )
    for (const { compatible_crypto_networks: compatible, crypto_network: own } of addresses) {
      assert.ok(compatible.includes(own))
      assert.equal(new Set(compatible).size, compatible.length)
    }
    const sizes = new Set(addresses.map((found) => found.compatible_crypto_networks.length))
    assert.ok(sizes.has(1) && sizes.size > 1)
  })

  for (const name of ['fiat accounts', 'fiat deposit instructions']) {
    test(`has every fiat network and both kinds of routing number among its ${name}`, async () => {
      const instructions = (await all(name)).map((item) => item.fiat_network_instructions)
      has(
        instructions.flatMap((given) => Object.keys(given)),
        fiatNetworks,
      )
      has(
        instructions.flatMap(({ wire }) => wire?.routing_details.routing_number_type ?? []),
        ['ABA', 'SWIFT'],
      )
      assert.ok(instructions.some(({ wire }) => wire?.intermediary_routing_details !== undefined))
      assert.ok(instructions.some((given) => Object.keys(given).length > 1))
    })
  }

  test('has every case of masking', async () => {
    const lengths = new Set(
      (await all('fiat accounts')).flatMap(numbersOf).map(({ length }) => length),
    )
    for (const cases of [[1, 2, 3], [4], [5], [8, 9, 10, 11, 12]]) {
      assert.ok(
        cases.some((length) => lengths.has(length)),
        `none of length ${cases}`,
      )
    }
  })

  test('has owners who are persons and institutions, and accounts without one', async () => {
    const listed = await readAll(acme, listNamed('fiat accounts'), 1000)
    const kinds = new Set<string>()
    for (const { id } of listed.slice(0, 40)) {
      const { fiat_account_owner: found } = await read(acme, `/v2/transfer/fiat-accounts/${id}`)
      if (found === undefined) kinds.add('none')
      else if (found.person_details === undefined) kinds.add('institution')
      else kinds.add('person')
    }
    assert.deepEqual([...kinds].toSorted(), ['institution', 'none', 'person'])
  })

  test('has records with and without each optional member', async () => {
    const optional: Readonly<Record<string, readonly string[]>> = {
      'fiat accounts': [
        'ref_id',
        'identity_id',
        'account_id',
        'fiat_account_owner',
        'metadata',
        'updated_at',
      ],
      statements: ['ref_id', 'metadata', 'generated_at', 'paid_at'],
      'fiat deposit instructions': ['account_id', 'ref_id', 'fiat_account_owner', 'metadata'],
      'deposit addresses': ['identity_id', 'account_id', 'ref_id', 'metadata'],
      'issuer quote executions': ['ref_id'],
    }
    for (const [name, members] of Object.entries(optional)) {
      const items = await all(name)
      for (const member of members) {
        const having = items.filter((item) => member in item).length
        assert.ok(having > 0 && having < items.length, `${name}: ${member}`)
      }
    }
  })

  test('has the nil UUID where instructions have no identity', async () => {
    const identities = (await all('fiat deposit instructions')).map(
      ({ identity_id }) => identity_id,
    )
    has(identities, ['00000000-0000-0000-0000-000000000000'])
  })

  test('has times of 0, 3 and 6 fraction digits, and ties', async () => {
    for (const name of ['fiat accounts', 'deposit addresses', 'issuer quote executions']) {
      const times = (await readAll(acme, listNamed(name), 1000)).map(({ created_at }) => created_at)
      const lengths = new Set(times.map(({ length }) => length))
      assert.deepEqual([...lengths].toSorted(), [20, 24, 27])
      assert.ok(new Set(times).size < times.length)
    }
    const periods = (await readAll(acme, listNamed('statements'))).map((item) => item.period_start)
    assert.ok(new Set(periods).size < periods.length)
  })

  test('has amounts of every legal form, negative token principals and empty balances', async () => {
    const quotes = await all('issuer quote executions')
    for (const form of [/^\.\d+$/, /^0\d/, /^\d+$/, /\.\d{18}$/, /0$/]) {
      assert.ok(
        quotes.some(({ principal }) => form.test(principal)),
        String(form),
      )
    }
    assert.ok(quotes.some(({ token_principal }) => token_principal.startsWith('-')))
    const balances = (await all('statements')).map((item) => item.statement_balances.length)
    for (const count of [0, 1, 2]) assert.ok(balances.includes(count))
  })

  test('has pages that end one record early, one late and exactly', async () => {
    const counts: number[] = []
    for (const client of [acme, borealis]) {
      for (const list of Object.values(lists)) counts.push((await readAll(client, list)).length)
    }
    for (const count of [100, 101, 1000, 1001]) assert.ok(counts.includes(count), `${count}`)
  })

  test('shows deleted accounts only with include_deleted=true', async () => {
    for (const client of [acme, borealis]) {
      const live = await readAll(client, listNamed('fiat accounts'), 1000)
      const every = await readAll(client, listNamed('fiat accounts, deleted ones too'), 1000)
      const liveIds = new Set(live.map(({ id }) => id))
      const deleted = every.filter(({ id }) => !liveIds.has(id))
      assert.ok(deleted.length > 0)
      assert.deepEqual(
        every.filter(({ id }) => liveIds.has(id)),
        live,
      )
      const [first] = deleted
      const shown = await read(
        client,
        `/v2/transfer/fiat-accounts/${first?.id}?include_deleted=true`,
      )
      fiatAccount(shown, String(first?.id))
      assert.equal('deleted_at' in shown, false)
    }
  })

  test('has metadata at the contract’s limits', async () => {
    const found = (await all('fiat accounts')).flatMap(({ metadata: given }) => given ?? [])
    assert.ok(found.some((given) => Object.keys(given).length === 6))
    assert.ok(
      found.some((given) => Object.values(given).some((value) => String(value).length === 100)),
    )
    assert.ok(found.some((given) => Object.values(given).includes('')))
  })
})

test('a created_at sent back as a filter matches its record', async () => {
  for (const name of ['fiat accounts', 'deposit addresses', 'fiat deposit instructions']) {
    const { path } = listNamed(name)
    const { items } = await read(acme, `${path}?limit=30`)
    for (const { created_at, id } of items) {
      const found = await read(acme, `${path}?created_at.eq=${created_at}`)
      assert.ok(found.items.some((item: Json) => item.id === id))
      assert.ok(found.items.every((item: Json) => item.created_at === created_at))
    }
  }
})

const hasRequests = spawnSync('python3', ['-c', 'import requests']).status === 0
assert(
  hasRequests || process.env.CI !== 'true',
  'requests is missing: apt-get install python3-requests',
)

test('Python’s requests reads every list to its end', {
  skip: hasRequests ? false : 'requests is missing',
}, async () => {
  const script = new URL('requests_client.py', import.meta.url).pathname
  const words = [script, url, acme.id, acme.secret, acme.customer]
  const { stdout } = await promisify(execFile)('python3', words)
  const expected: [name: string, count: number][] = []
  for (const [name, list] of Object.entries(lists)) {
    expected.push([name, (await readAll(acme, list, 1000)).length])
  }
  assert.deepEqual(JSON.parse(stdout), Object.fromEntries(expected))
})

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Program, startProgram } from '../support/program.ts'

/**
 * What the sandbox shows to the tests of other people, read over HTTP only. BURSAR_ACCEPTANCE_URL
 * names another server with the sandbox's records. `bursar verify` checks what holds for any
 * records.
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
  return String(body.access_token)
}

// biome-ignore lint/suspicious/noExplicitAny: `bursar verify` checks the shape of records
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
  readonly query?: (client: Client) => string
}

const lists: Readonly<Record<string, List>> = {
  'fiat accounts': {
    path: '/v2/transfer/fiat-accounts',
    envelope: 'items',
  },
  'fiat accounts, deleted ones too': {
    path: '/v2/transfer/fiat-accounts',
    envelope: 'items',
    query: () => 'include_deleted=true&',
  },
  statements: {
    path: '/v2/statements',
    envelope: 'statements',
    query: ({ customer }) => `customer_id=${customer}&`,
  },
  'fiat deposit instructions': {
    path: '/v2/transfer/fiat-deposit-instructions',
    envelope: 'items',
  },
  'deposit addresses': {
    path: '/v2/transfer/deposit-addresses',
    envelope: 'items',
  },
  'issuer quote executions': {
    path: '/v2/issuer-quotes',
    envelope: 'issuer_quote_executions',
  },
}

/** Reads every page of a list. */
async function readAll(client: Client, list: List, limit = 100): Promise<Json[]> {
  const items: Json[] = []
  let cursor: string | undefined
  do {
    const query = `${list.query?.(client) ?? ''}limit=${limit}&page_cursor=${cursor ?? ''}`
    const body = await read(client, `${list.path}?${query}`)
    const found: Json[] = body[list.envelope]
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
      'deposit addresses': ['account_id', 'ref_id', 'metadata'],
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

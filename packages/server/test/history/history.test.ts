import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { addCustomerClient } from '../../../../test/support/customer-client.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import { isLong } from '../../../../test/support/long.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { openTestStore, resourceOf, take } from '../../../../test/support/record-store.ts'
import {
  aDepositAddress,
  aFiatAccount,
  anId,
  anIssuerQuote,
  aStatement,
  someDepositInstructions,
} from '../../../../test/support/records.ts'
import { until } from '../../../../test/support/until.ts'
import { writeScope } from '../../../contract/src/operations/ingest/stored-records.ts'

let token: string
let bound: string

const service = describeService({}, async () => {
  const scopes = [
    writeScope('fiat-accounts'),
    writeScope('statements'),
    writeScope('issuer-quote-executions'),
    writeScope('deposit-addresses'),
    'ingest:read_record',
    'ingest:read_history',
    'ingest:search',
  ]
  token = await operatorToken(service, 'core', scopes)
  bound = await operatorToken(service, 'branch', scopes, 'newco')
  await addCustomerClient(service, newco)
})
const newco = {
  customerId: 'newco',
  clientId: 'newco_client',
  clientSecret: 'newco_secret_of_test',
}

const get = (path: string, as = token) => service.call(`/ingest/v1/${path}`, { token: as })

const put = async (kind: string, record: object) => {
  const { id } = record as { id: string }
  const body = JSON.stringify(record)
  const answer = await service.call(`/ingest/v1/${kind}/${id}`, { token, method: 'PUT', body })
  assert.ok(answer.status < 300, answer.text)
}

const now = () => new Date(Number(service.parts.clock() / 1000n) + 1).toISOString()
/** Waits until the clock, which counts milliseconds, shows a later time. */
const pause = async () => {
  const before = service.parts.clock()
  await until(() => service.parts.clock() > before + 1000n)
}

/** The body without its cursor, which is sealed anew each time. */
const comparable = (text: string) => text.replace(/,"next_page_cursor":"[^"]*"/, '')

test('a history of large records has pages of 1 MiB, and together every version', async () => {
  const id = anId(8800)
  const balances = (amount_paid: string) =>
    Array.from({ length: 1000 }, (_, at) => ({
      asset: `ASSET${at}`,
      amount_paid,
      total_amount_owed: '1000.5',
    }))
  for (let version = 0; version < 20; version += 1) {
    const statement_balances = balances(String(version))
    await put('statements', aStatement({ id, source_version: version, statement_balances }))
  }
  const pages: number[] = []
  const changed: string[][] = []
  for (let cursor = ''; cursor !== 'end'; ) {
    const from = cursor === '' ? '' : `&page_cursor=${cursor}`
    const { status, body, text } = await get(`statements/${id}/history?limit=1000${from}`)
    assert.equal(status, 200, text)
    assert.ok(text.length < 1.5 * 1024 * 1024, `a page has ${text.length} characters`)
    pages.push(body.versions.length)
    for (const version of body.versions) changed.push(version.changed)
    cursor = body.next_page_cursor ?? 'end'
  }
  assert.ok(pages.length >= 2, `${pages.length} pages`)
  const later = Array.from({ length: 19 }, () => ['statement_balances', 'source_version'])
  assert.deepEqual(changed, [[], ...later])
})

describe('the history of a record', () => {
  test('lists its versions with their origins and changed members', async () => {
    const file = { file: 'morning.ndjson', user: 'alice', sudoUser: undefined }
    const origin = { ...file, sha256: async () => 'abc' }
    const statement = aStatement({ id: anId(901), customer_id: 'newco', ref_id: 'h1' })
    await take(service.parts.store, 'statements', [statement], { origin })
    const paid = {
      ...statement,
      status: 'STATEMENT_STATUS_PAID',
      paid_at: '2026-02-02T00:00:00Z',
    }
    await put('statements', paid)
    await put('statements', paid)
    const { status, body } = await get(`statements/${anId(901)}/history`)
    assert.equal(status, 200, JSON.stringify(body))
    const [first, second] = body.versions
    assert.equal(body.versions.length, 2)
    assert.deepEqual(first.origin, {
      command: 'import',
      file: 'morning.ndjson',
      user: 'alice',
      line: 1,
    })
    assert.deepEqual(second.origin, { command: 'PUT', client_id: 'core' })
    assert.deepEqual([first.changed, second.changed], [[], ['status', 'paid_at']])
    assert.deepEqual([first.replaced_at, second.replaced_at], [second.stored_at, undefined])
    assert.equal(first.record.status, 'STATEMENT_STATUS_GENERATED')
    const path = `statements/${anId(901)}/history?limit=1`
    const { next_page_cursor: cursor, ...part } = (await get(path)).body
    assert.deepEqual(part, { kept_since: body.kept_since, versions: [first] })
    const later = await get(`${path}&page_cursor=${cursor}`)
    assert.deepEqual(later.body, { kept_since: body.kept_since, versions: [second] })
    // The cursor is of this record and of this client's customers.
    const other = await get(`statements/${anId(902)}/history?page_cursor=${cursor}`)
    assert.deepEqual([other.status, other.body.meta.errors[0].code], [400, 'other_filters'])
    const ofBound = await get(`${path}&page_cursor=${cursor}`, bound)
    assert.deepEqual([ofBound.status, ofBound.body.meta.errors[0].code], [400, 'malformed'])
    assert.equal((await get(`statements/${anId(999)}/history`)).status, 404)
  })

  test('answers the version of a time', async () => {
    const account = aFiatAccount({ id: anId(902), customer_id: 'newco' })
    await put('fiat-accounts', aFiatAccount({ id: anId(903), customer_id: 'newco', ref_id: 'h0' }))
    await pause()
    const before = now()
    await pause()
    await put('fiat-accounts', account)
    await pause()
    const between = now()
    await pause()
    await put('fiat-accounts', { ...account, status: 'APPROVED' })
    const path = `fiat-accounts/${anId(902)}`
    assert.equal((await get(`${path}?as_of=${before}`)).status, 404)
    assert.equal((await get(`${path}?as_of=${between}`)).body.status, 'PENDING')
    assert.equal((await get(path)).body.status, 'APPROVED')
    assert.equal((await get(`${path}?as_of=2999-01-01T00:00:00Z`)).status, 400)
    const reader = await operatorToken(service, 'reader', ['ingest:read_record'])
    assert.equal((await get(`${path}?as_of=${between}`, reader)).status, 403)
  })
})

/** Eight writers on the same records. */
const chained = isLong ? { records: 100, rounds: 3000 } : { records: 20, rounds: 20 }

test('versions are a chain while eight writers change the same records', async () => {
  const ids = Array.from({ length: chained.records }, (_, at) => anId(20_000 + at))
  const path = (id: string) => `/ingest/v1/fiat-accounts/${id}`
  let acknowledged = 0
  const writer = async (name: number) => {
    for (let round = 0; round < chained.rounds; round += 1) {
      const id = ids[(name * 7 + round * 3) % ids.length] ?? ''
      const account = aFiatAccount({ id, customer_id: 'newco', ref_id: `${id} ${name} ${round}` })
      const put = { token, method: 'PUT', body: JSON.stringify(account) }
      const { status } = await service.call(path(id), put)
      assert.ok(status < 300)
      acknowledged += 1
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, name) => writer(name)))
  let versions = 0
  for (const id of ids) {
    const name = { id, customerId: 'newco' }
    const history = await service.parts.store.operator.history(resourceOf('fiat-accounts'), name, {
      after: undefined,
      versionsMax: 1_000_000,
    })
    const all = history?.versions ?? []
    for (const [at, { storedAt, replacedAt }] of all.entries()) {
      assert.equal(replacedAt, all[at + 1]?.storedAt)
      assert.ok(replacedAt === undefined || storedAt < replacedAt)
    }
    versions += all.length
  }
  assert.equal(versions, acknowledged, 'each write has its version')
})

test('a clock that goes back makes no version older than the one before it', async () => {
  let at = 1_790_000_000_000_000n
  const tested = await openTestStore(() => at)
  try {
    const account = aFiatAccount({ id: anId(1) })
    await tested.take('fiat-accounts', [account])
    at -= 60_000_000n
    await tested.take('fiat-accounts', [{ ...account, status: 'APPROVED' }])
    const part = { after: undefined, versionsMax: 10 }
    const resource = resourceOf('fiat-accounts')
    const name = { id: anId(1), customerId: undefined }
    const history = await tested.store.operator.history(resource, name, part)
    const [first, second] = history?.versions ?? []
    assert.equal(first?.replacedAt, second?.storedAt)
    assert.equal(second?.storedAt, (first?.storedAt ?? 0n) + 1n)
  } finally {
    await tested.close()
  }
})

describe('a list at an instant', () => {
  test('is what the customer saw, masked, or in full', async () => {
    const customer = await service.tokenOf(newco)
    const list = () => service.call('/v2/transfer/fiat-accounts', { token: customer })
    const seen: { readonly at: string; readonly text: string }[] = []
    const account = aFiatAccount({ id: anId(911), customer_id: 'newco' })
    const steps = [
      () => put('fiat-accounts', account),
      () => put('fiat-accounts', { ...account, status: 'APPROVED' }),
      () =>
        put('fiat-accounts', aFiatAccount({ id: anId(912), customer_id: 'newco', ref_id: 'x' })),
      () => put('fiat-accounts', { ...account, deleted_at: '2026-05-01T00:00:00Z' }),
      () => put('fiat-accounts', { ...account, deleted_at: null }),
    ]
    for (const step of steps) {
      await step()
      await pause()
      const { text, headers } = await list()
      seen.push({ at: headers.get('as-of') ?? '', text })
      await pause()
    }
    for (const { at, text } of seen) {
      const past = await get(`customers/newco/fiat-accounts?as_of=${at}`)
      assert.equal(comparable(past.text), comparable(text), at)
      assert.equal(past.headers.get('as-of'), at)
    }
    const full = await get(`customers/newco/fiat-accounts?as_of=${seen[0]?.at}&view=full`)
    assert.match(full.text, /"account_number":"12345678"/)
    assert.match(seen[0]?.text ?? '', /5678/)
    assert.doesNotMatch(seen[0]?.text ?? '', /12345678/)
  })

  test('has the filters, the order and the pages of the customer’s list', async () => {
    const customer = await service.tokenOf(newco)
    const quotes = Array.from({ length: 12 }, (_, at) =>
      anIssuerQuote({
        id: anId(920 + at),
        customer_id: 'newco',
        profile_id: `p${at % 3}`,
        ref_id: `q${at}`,
        status: ['PENDING', 'COMPLETE', 'FAILED'][at % 3],
        created_at: `2026-03-${String(1 + at).padStart(2, '0')}T00:00:00Z`,
      }),
    )
    for (const quote of quotes) await put('issuer-quote-executions', quote)
    const path = '/v2/issuer-quotes'
    const queries = [
      'limit=5',
      'limit=5&order=ASC',
      'profile_id=p1&limit=3',
      'status=PENDING&status=FAILED',
      `ids=${anId(921)}&ids=${anId(922)}`,
      'ref_ids=q1&ref_ids=q9',
    ]
    const read = async (query: string) => service.call(`${path}?${query}`, { token: customer })
    const pages = await Promise.all(queries.map(read))
    const at = pages[0]?.headers.get('as-of') ?? ''
    for (const quote of quotes.slice(0, 8)) {
      const changed = { profile_id: 'moved', status: 'COMPLETE', ref_id: `x${quote.ref_id}` }
      await put('issuer-quote-executions', { ...quote, ...changed })
    }
    for (const [index, query] of queries.entries()) {
      const list = `customers/newco/issuer-quote-executions?as_of=${at}&${query}`
      const past = await get(list)
      assert.equal(comparable(past.text), comparable(pages[index]?.text ?? ''), query)
      // The next page is of the same instant.
      const [mine, theirs] = [past.body.next_page_cursor, pages[index]?.body.next_page_cursor]
      assert.equal(mine === undefined, theirs === undefined)
      if (mine === undefined) continue
      const next = await get(`${list}&page_cursor=${mine}`)
      assert.equal(next.status, 200, next.text)
      const also = await get(`${list.replace(`as_of=${at}&`, '')}&page_cursor=${mine}`)
      assert.equal(comparable(also.text), comparable(next.text))
      const other = await get(`${list.replace(at, now())}&page_cursor=${mine}`)
      assert.equal(other.status, 400)
    }
    const names = Array.from({ length: 600 }, (_, at) => `ref_ids=q${at}`).join('&')
    const many = await get(`customers/newco/issuer-quote-executions?as_of=${at}&${names}`)
    assert.equal(many.body.issuer_quote_executions?.length, 12, many.text.slice(0, 200))
    const moved = await get('customers/newco/issuer-quote-executions?profile_id=moved')
    assert.equal(moved.body.issuer_quote_executions.length, 8)
    assert.equal((await get('customers/other/statements', bound)).status, 404)
  })
})

describe('past lists that are read at the same time', () => {
  const created = (at: number) => new Date(1_700_000_000_000 + at * 60_000).toISOString()
  const some = (customer_id: string, first: number, count: number, at: (index: number) => number) =>
    Array.from({ length: count }, (_, index) =>
      aFiatAccount({
        id: anId(first + index),
        customer_id,
        ref_id: `together-${first + index}`,
        created_at: created(at(index)),
      }),
    )
  const customers = ['together-a', 'together-b', 'together-c']
  const queries = ['limit=4', 'limit=4&order=ASC', 'limit=20', 'limit=4&view=full']
  const queriesOfDeleted = queries.map((query) => `${query}&include_deleted=true`)
  const asked = customers.flatMap((customer) =>
    [...queries, ...queriesOfDeleted].map(
      (query) => `customers/${customer}/fiat-accounts?${query}`,
    ),
  )
  let at: string
  let seen: readonly string[]

  before(async () => {
    for (const [index, customer] of customers.entries()) {
      // Deleted records lie between the others.
      const accounts = some(customer, 21_000 + index * 1000, 120, (each) => each * 10)
      const isLive = (each: number) => index === 2 || each % 40 === 0
      const deleted_at = '2026-05-01T00:00:00Z'
      const stored = accounts.map((one, each) => (isLive(each) ? one : { ...one, deleted_at }))
      await take(service.parts.store, 'fiat-accounts', stored)
    }
    await pause()
    at = now()
    await pause()
    seen = []
    for (const path of asked) {
      seen = [...seen, comparable((await get(`${path}&as_of=${at}`)).text)]
    }
    // Later ones too, and some of the records have other versions.
    for (const [index, customer] of customers.entries()) {
      const later = some(customer, 21_500 + index * 1000, 120, (each) => each * 10 + 5)
      const changed = some(customer, 21_000 + index * 1000, 120, (each) => each * 10)
      const records = [...later, ...changed.map((one) => ({ ...one, status: 'APPROVED' }))]
      await take(service.parts.store, 'fiat-accounts', records)
    }
  })

  test('are the same as when each is read alone, however many records lie between', async () => {
    const answers = await Promise.all(asked.map((path) => get(`${path}&as_of=${at}`)))
    for (const [index, path] of asked.entries()) {
      assert.equal(comparable(answers[index]?.text ?? ''), seen[index], path)
    }
    const [live = ''] = seen
    assert.deepEqual(
      JSON.parse(live).items.map((one: { id: string }) => one.id),
      [80, 40, 0].map((each) => anId(21_000 + each)),
    )
  })

  test('refuse each a time that is unknown, and answer the others', async () => {
    const known = `${asked[0]}&as_of=${at}`
    const unknown = `${asked[8]}&as_of=1990-01-01T00:00:00Z`
    const nobodys = `customers/nobody/fiat-accounts?limit=4&as_of=${at}`
    const answers = await Promise.all([known, unknown, nobodys, known].map((path) => get(path)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 410, 200, 200],
    )
    assert.equal(answers[2]?.text, '{"items":[]}')
    assert.equal(comparable(answers[3]?.text ?? ''), seen[0])
  })
})

describe('a time before the store kept a customer’s records of a kind', () => {
  const path = `issuer-quote-executions/${anId(951)}`
  const list = 'customers/filled/issuer-quote-executions'
  let earlier: string
  let foreign: string

  before(async () => {
    earlier = now()
    await pause()
    const quote = anIssuerQuote({ id: anId(951), customer_id: 'filled' })
    await take(service.parts.store, 'issuer-quote-executions', [quote])
    foreign = await operatorToken(
      service,
      'other-branch',
      ['ingest:read_record', 'ingest:read_history'],
      'elsewhere',
    )
  })

  test('is unknown, in every read of the past, and names since when records are kept', async () => {
    const history = (await get(`${path}/history`)).body
    const { stored_at: since } = history.versions[0]
    assert.equal(history.kept_since, since)
    const detail = `issuer-quote-executions of this customer are kept since ${since}; earlier states are unknown`
    for (const at of [earlier, '1960-01-01T00:00:00Z']) {
      for (const read of [path, list, `${list}?view=full`, `${list}?ids=${anId(951)}`]) {
        const { status, body } = await get(`${read}${read.includes('?') ? '&' : '?'}as_of=${at}`)
        assert.deepEqual(
          [status, body.detail, body.meta],
          [410, detail, { kept_since: since }],
          read,
        )
      }
    }
    const first = await get(`${path}?as_of=${since}`)
    assert.equal(first.body.id, anId(951), first.text)
    assert.equal((await get(`${list}?as_of=${since}`)).body.issuer_quote_executions.length, 1)
  })

  test('answers nothing about other kinds, other customers and unknown ids', async () => {
    assert.deepEqual((await get(`customers/filled/statements?as_of=${earlier}`)).body, {
      statements: [],
    })
    assert.deepEqual(
      (await get(`customers/nobody/issuer-quote-executions?as_of=${earlier}`)).body,
      {
        issuer_quote_executions: [],
      },
    )
    const unknown = await get(`issuer-quote-executions/${anId(952)}?as_of=${earlier}`)
    assert.equal(unknown.status, 404)
    // A bound client cannot tell a foreign id from one that nobody has.
    const [theirs, nobodys] = [
      await get(`${path}?as_of=${earlier}`, foreign),
      await get(`issuer-quote-executions/${anId(952)}?as_of=${earlier}`, foreign),
    ]
    assert.deepEqual([theirs.status, nobodys.status], [404, 404])
    assert.equal(theirs.body.detail.replace(anId(951), anId(952)), nobodys.body.detail)
  })

  test('stays the same when more records come', async () => {
    const { meta } = (await get(`${list}?as_of=${earlier}`)).body
    await take(service.parts.store, 'issuer-quote-executions', [
      anIssuerQuote({ id: anId(953), customer_id: 'filled', ref_id: 'later' }),
    ])
    assert.deepEqual((await get(`${list}?as_of=${earlier}`)).body.meta, meta)
    const between = await get(`issuer-quote-executions/${anId(953)}?as_of=${meta.kept_since}`)
    assert.equal(between.status, 404, between.text)
  })
})

describe('a search', () => {
  const search = async (query: string, as = token) => {
    const { status, body } = await get(`search?q=${encodeURIComponent(query)}`, as)
    assert.equal(status, 200, JSON.stringify(body))
    return body.hits.map(({ kind, id, matched }: Record<string, string>) => [kind, id, matched])
  }

  test('finds records of every customer by each of their identifiers', async () => {
    const address = aDepositAddress({
      id: anId(981),
      customer_id: 'elsewhere',
      ref_id: 'find-me',
      profile_id: 'prof-9',
      account_id: 'acct-9',
      identity_id: 'ident-9',
    })
    await take(service.parts.store, 'deposit-addresses', [address])
    const hit = (matched: string) => [['deposit-addresses', anId(981), matched]]
    assert.deepEqual(await search(anId(981).toUpperCase()), hit('id'))
    for (const [query, matched] of [
      ['find-me', 'ref_id'],
      ['prof-9', 'profile_id'],
      ['acct-9', 'account_id'],
      ['ident-9', 'identity_id'],
    ] as const)
      assert.deepEqual(await search(query), hit(matched), query)
    assert.deepEqual(await search(String(address.address)), hit('address'))
    assert.deepEqual(await search(String(address.address).toLowerCase()), hit('address'))
    assert.deepEqual(await search('find-m'), [])
    assert.deepEqual(await search('find-me', bound), [])
  })

  test('finds customers by the start of an id or of a name, on the first page', async () => {
    await service.parts.store.operator.customers.rename('acme', 'Great Northern Ltd')
    const customersOf = async (query: string, as = token) =>
      (await get(`search?q=${encodeURIComponent(query)}`, as)).body.customers
    const acme = [{ id: 'acme', name: 'Great Northern Ltd' }]
    for (const query of ['acme', 'ACM', ' acme ', 'great', 'northern', 'Great Nor', 'ltd']) {
      assert.deepEqual(await customersOf(query), acme, query)
    }
    for (const query of ['cme', 'orthern', anId(981)]) {
      assert.deepEqual(await customersOf(query), [], query)
    }
    assert.deepEqual(await customersOf('acme', bound), [])
    const profile = 'many-of-one'
    const many = Array.from({ length: 21 }, (_, at) =>
      anIssuerQuote({ id: anId(8900 + at), customer_id: 'many-of-one', profile_id: profile }),
    )
    await take(service.parts.store, 'issuer-quote-executions', many)
    const first = await get(`search?q=${profile}`)
    assert.deepEqual(first.body.customers, [{ id: 'many-of-one' }])
    const second = await get(`search?q=${profile}&page_cursor=${first.body.next_page_cursor}`)
    assert.equal(second.body.hits.length, 1)
    assert.ok(!('customers' in second.body))
  })

  test('finds a memo by its first six characters', async () => {
    const [memo] = (await service.call('/v2/transfer/fiat-deposit-instructions?limit=1')).body.items
    const found = await search(memo.memo_id.slice(0, 6))
    assert.ok(found.some(([, id]: string[]) => id === memo.id))
    assert.deepEqual(await search(memo.memo_id), [
      ['fiat-deposit-instructions', memo.id, 'memo_id'],
    ])
    assert.deepEqual(await search(memo.memo_id.slice(0, 5)), [])
  })

  test('finds a memo in any case', async () => {
    const [memo] = (await service.call('/v2/transfer/fiat-deposit-instructions?limit=1')).body.items
    const found = [['fiat-deposit-instructions', memo.id, 'memo_id']]
    assert.deepEqual(await search(memo.memo_id.toLowerCase()), found)
  })

  test('finds account numbers by their last four characters, masked, each record once', async () => {
    const network = (account_number: string) => ({ scb: { account_number } })
    const accounts = Array.from({ length: 25 }, (_, at) =>
      aFiatAccount({
        id: anId(1400 + at),
        customer_id: at % 2 === 0 ? 'newco' : 'elsewhere',
        ref_id: `end-${at}`,
        fiat_network_instructions: network(`70000${at}QQ46`),
      }),
    )
    const short = aFiatAccount({
      id: anId(1450),
      ref_id: 'end-short',
      fiat_network_instructions: network('QQ46'),
    })
    await take(service.parts.store, 'fiat-accounts', [...accounts, short])
    const instructions = someDepositInstructions({
      id: anId(1451),
      customer_id: 'newco',
      memo_id: 'ENDOFNUMBER00001',
      fiat_network_instructions: network('12 3Q Q46 '),
    })
    await take(service.parts.store, 'fiat-deposit-instructions', [instructions])
    const first = await get('search?q=QQ46')
    const second = await get(`search?q=QQ46&page_cursor=${first.body.next_page_cursor}`)
    const hits = [...first.body.hits, ...second.body.hits]
    assert.deepEqual(
      hits.map(({ id }) => id).toSorted(),
      [...accounts, instructions].map(({ id }) => String(id)).toSorted(),
    )
    assert.ok(hits.every(({ matched }) => matched === 'account_number'))
    const account = hits.find(({ id }) => id === anId(1400))
    const shown = account.record.fiat_network_instructions.scb.account_number
    assert.deepEqual([shown, account.customer_id], ['XXXXXXQQ46', 'newco'])
    assert.deepEqual((await get('search?q=Q%20Q46')).body.hits, first.body.hits)
    const ofNewco = hits.filter(({ customer_id: customer }) => customer === 'newco')
    const ofBound = await search('QQ46', bound)
    assert.deepEqual(
      ofBound.map(([, id]: string[]) => id).toSorted(),
      ofNewco.map(({ id }) => id).toSorted(),
    )
    assert.deepEqual(await search('q46'), [])
  })

  test('finds accounts by words of their banks and owners, the latter for those who may see them', async () => {
    const wire = (bank_name: string) => ({
      wire: {
        account_number: '70001234',
        fiat_account_owner_address: { country: 'USA' },
        routing_details: {
          routing_number_type: 'SWIFT',
          routing_number: 'ABCDUS33',
          bank_name,
          bank_address: { country: 'USA' },
        },
      },
    })
    const owner = (name: string) => ({ institution_details: { name } })
    const account = (at: number, customer_id: string, bank: string, name: string) =>
      aFiatAccount({
        id: anId(at),
        customer_id,
        ref_id: `words-${at}`,
        fiat_network_instructions: wire(bank),
        fiat_account_owner: owner(name),
      })
    await take(service.parts.store, 'fiat-accounts', [
      account(1460, 'newco', 'Wexler Farge Bank, N.A.', 'Élan Größe GmbH'),
      account(1461, 'elsewhere', 'Bank of Wexler', 'Farge Élan'),
      account(1462, 'elsewhere', 'Wexler Farge Bank', 'Wexler Farge Holding'),
    ])
    const found = async (query: string, as = token) =>
      (await search(query, as)).map(([, id, matched]: string[]) => [id, matched]).toSorted()
    assert.deepEqual(await found('wexler FARGE'), [
      [anId(1460), 'bank_name'],
      [anId(1462), 'bank_name'],
    ])
    assert.deepEqual(await found('farge wexler n.a.', bound), [[anId(1460), 'bank_name']])
    assert.deepEqual((await found('wexler')).length, 3)
    for (const query of ['ELAN größe', 'élan GRÖSSE']) {
      assert.deepEqual(await found(query), [[anId(1460), 'fiat_account_owner']], query)
    }
    assert.deepEqual(await found('elan', bound), [[anId(1460), 'fiat_account_owner']])
    assert.deepEqual(await found('holding'), [[anId(1462), 'fiat_account_owner']])
    assert.deepEqual(await found('hold'), [])
    assert.deepEqual(await found('bank elan'), [])
    const others = await operatorToken(service, 'searcher', ['ingest:search'])
    assert.deepEqual(await found('holding', others), [])
    assert.deepEqual((await found('wexler farge', others)).length, 2)
  })

  test('pages through many records of common words, and ends', async () => {
    const accounts = Array.from({ length: 130 }, (_, at) =>
      aFiatAccount({
        id: anId(5000 + at),
        customer_id: at % 2 === 0 ? 'newco' : 'elsewhere',
        ref_id: `common-${at}`,
        fiat_account_owner: {
          institution_details: { name: at % 10 === 0 ? 'Zubrowka Trading' : 'Zubrowka' },
        },
      }),
    )
    await take(service.parts.store, 'fiat-accounts', accounts)
    const all = async (query: string) => {
      const ids: string[] = []
      let cursor: string | undefined = ''
      while (cursor !== undefined) {
        const { body } = await get(`search?q=${encodeURIComponent(query)}&page_cursor=${cursor}`)
        ids.push(...body.hits.map(({ id }: { readonly id: string }) => id))
        cursor = body.next_page_cursor
      }
      return ids.toSorted()
    }
    const ids = accounts.map(({ id }) => String(id))
    assert.deepEqual(await all('zubrowka'), ids.toSorted())
    const trading = ids.filter((_, at) => at % 10 === 0)
    assert.deepEqual(await all('zubrowka trading'), trading.toSorted())
    assert.deepEqual(await all('zubrowka limited'), [])
  })

  test('answers 20 hits and the cursor of the next ones, each record once', async () => {
    const profile = 'prof-of-many'
    const addresses = Array.from({ length: 45 }, (_, at) =>
      aDepositAddress({
        id: anId(1200 + at),
        customer_id: at % 2 === 0 ? 'newco' : 'elsewhere',
        address: `0x${String(1200 + at).padEnd(40, '7')}`,
        profile_id: profile,
        // These match twice.
        ...(at % 3 === 0 && { identity_id: profile }),
      }),
    )
    await take(service.parts.store, 'deposit-addresses', addresses)
    const instructions = Array.from({ length: 3 }, (_, at) =>
      someDepositInstructions({
        id: anId(1250 + at),
        customer_id: 'newco',
        profile_id: profile,
        memo_id: `PAGEDMEMO000000${at}`,
      }),
    )
    await take(service.parts.store, 'fiat-deposit-instructions', instructions)
    const pages: string[][] = []
    let cursor: string | undefined = ''
    while (cursor !== undefined) {
      const { status, body, text } = await get(`search?q=${profile}&page_cursor=${cursor}`)
      assert.equal(status, 200, text)
      pages.push(body.hits.map(({ id }: { readonly id: string }) => id))
      cursor = body.next_page_cursor
    }
    assert.deepEqual(
      pages.map(({ length }) => length),
      [20, 20, 8],
    )
    const ids = [...addresses, ...instructions].map(({ id }) => String(id))
    assert.deepEqual(pages.flat().toSorted(), ids.toSorted())
    const first = await get(`search?q=${profile}`)
    // The search goes on after its last hit, even if that record was withdrawn meanwhile.
    const { id: last } = first.body.hits.at(-1)
    const path = `/ingest/v1/deposit-addresses/${last}`
    assert.equal((await service.call(path, { token, method: 'DELETE' })).status, 204)
    const rest = await get(`search?q=${profile}&page_cursor=${first.body.next_page_cursor}`)
    const restIds = rest.body.hits.map(({ id }: { readonly id: string }) => id)
    assert.deepEqual(restIds, pages[1])
    const other = await get(`search?q=other&page_cursor=${first.body.next_page_cursor}`)
    assert.deepEqual([other.status, other.body.meta.errors[0].code], [400, 'other_filters'])
    assert.equal((await get('search')).status, 400)
  })

  test('goes on among memos with one start', async () => {
    const instructions = Array.from({ length: 25 }, (_, at) =>
      someDepositInstructions({
        id: anId(1300 + at),
        customer_id: 'newco',
        memo_id: `MANYMEMOS${String(at).padStart(7, '0')}`,
      }),
    )
    await take(service.parts.store, 'fiat-deposit-instructions', instructions)
    const first = await get('search?q=MANYME')
    const second = await get(`search?q=MANYME&page_cursor=${first.body.next_page_cursor}`)
    const found = [...first.body.hits, ...second.body.hits].map(({ id }) => id)
    assert.deepEqual([found.length, second.body.next_page_cursor], [25, undefined])
    assert.deepEqual(
      found,
      instructions.map(({ id }) => id),
    )
  })
})

test('pruning keeps what was stored at its time', async () => {
  const account = aFiatAccount({ id: anId(941), customer_id: 'newco', ref_id: 'p0' })
  const instants: string[] = []
  for (let version = 0; version < 6; version += 1) {
    await put('fiat-accounts', { ...account, ref_id: `p${version}` })
    await pause()
    instants.push(now())
    await pause()
  }
  const { operator } = service.parts.store
  const before = BigInt(Date.parse(instants[3] ?? '')) * 1000n
  let from: Parameters<typeof operator.pruneHistory>[1]
  let deleted = 0
  do {
    const step = await operator.pruneHistory(before, from, 3)
    deleted += step.deleted
    from = step.next
  } while (from !== undefined)
  assert.ok(deleted >= 3)
  const { body } = await get(`fiat-accounts/${anId(941)}/history`)
  assert.deepEqual(
    body.versions.map(({ record }: { record: { ref_id: string } }) => record.ref_id),
    ['p3', 'p4', 'p5'],
  )
  const at = (index: number) => get(`fiat-accounts/${anId(941)}?as_of=${instants[index]}`)
  assert.equal((await at(3)).body.ref_id, 'p3')
  assert.equal((await at(4)).body.ref_id, 'p4')
  assert.equal((await at(2)).status, 410)
  const list = await get(`customers/newco/fiat-accounts?as_of=${instants[2]}`)
  assert.deepEqual([list.status, list.body.meta], [410, { kept_since: instants[3] }])
})

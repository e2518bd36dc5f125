import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fixtureIds } from '../../packages/sandbox/src/story.ts'
import {
  AuthenticationError,
  BadRequestError,
  type Bursar,
  createBursar,
  type Fetch,
  NotFoundError,
  type operations,
  PermissionError,
  UnknownParameterError,
} from '../../sdk/src/index.ts'
import { describeService } from '../support/describe-service.ts'
import { acme } from '../support/harness.ts'
import { withdrawal as anyWithdrawal } from '../support/operation-calls.ts'

type Query<Id extends keyof operations> = Required<
  NonNullable<operations[Id]['parameters']['query']>
>

const document = JSON.parse(readFileSync('openapi.json', 'utf8'))
const noRecord = '99999999-9999-4999-8999-999999999999'
const time = '2026-10-31T14:00:00+02:00'
const times = {
  'created_at.lt': time,
  'created_at.lte': time,
  'created_at.eq': time,
  'created_at.gte': time,
  'created_at.gt': time,
}
const pages = { limit: 1, order: 'ASC', page_cursor: '' } as const
let page: typeof pages & { readonly as_of: string }
const ids = [noRecord, '11111111-1111-4111-8111-111111111111']
const refs = ['a,b', 'ä & b']

let bursar: Bursar
let tokenRequests = 0

const service = describeService({}, async () => {
  bursar = clientOf()
  page = { ...pages, as_of: new Date().toISOString() }
})
/** The requests under `/v2`, in order. */
let requests: { readonly method: string; readonly url: string }[] = []

const recordingFetch: Fetch = async (url, init) => {
  if (url.endsWith('/oauth2/token')) tokenRequests += 1
  else requests.push({ method: init.method, url })
  return fetch(url, init)
}
const clientOf = (scopes?: readonly string[]) =>
  createBursar({
    baseUrl: `${service.url}/`,
    clientId: acme.clientId,
    clientSecret: acme.clientSecret,
    maxAttempts: 1,
    fetch: recordingFetch,
    ...(scopes && { scopes }),
  })
const all = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const read: T[] = []
  for await (const item of list) read.push(item)
  return read
}

describe('every operation of the document', () => {
  test('has a method, and its filters have every parameter of the document', async () => {
    const fiatAccounts: Query<'listFiatAccounts'> = {
      ...page,
      ...times,
      ids,
      ref_ids: refs,
      include_deleted: true,
      order_by: 'CREATED_AT',
    }
    const depositInstructions: Query<'listFiatDepositInstructions'> = {
      ...page,
      ...times,
      ids,
      ref_ids: refs,
      memo_ids: refs,
      order_by: 'CREATED_AT',
      profile_ids: refs,
      identity_ids: refs,
      account_ids: refs,
    }
    const depositAddresses: Query<'listDepositAddresses'> = {
      ...page,
      ...times,
      ids,
      ref_ids: refs,
      addresses: refs,
      order_by: 'CREATED_AT',
      profile_ids: refs,
      identity_ids: refs,
      account_ids: refs,
      networks: ['BITCOIN', 'SOLANA'],
    }
    const statements: Query<'listStatements'> = {
      ...page,
      customer_id: 'acme',
      ref_ids: refs,
      statement_ids: ids,
      statuses: ['STATEMENT_STATUS_PAID', 'STATEMENT_STATUS_GENERATED'],
    }
    const issuerQuotes: Query<'listIssuerQuoteExecutions'> = {
      ...page,
      profile_id: 'p',
      ids,
      ref_ids: refs,
      status: ['COMPLETE', 'FAILED'],
      'created_range.begin': time,
      'created_range.end': time,
    }
    const events: Query<'listEvents'> = {
      ...pages,
      ...times,
      type: ['statement.created', 'fiat_account.deleted'],
      wait: 0,
    }
    requests = []
    await all(bursar.fiatAccounts.list(fiatAccounts))
    await all(bursar.fiatDepositInstructions.list(depositInstructions))
    await all(bursar.depositAddresses.list(depositAddresses))
    await all(bursar.statements.list(statements))
    await all(bursar.issuerQuotes.list(issuerQuotes))
    await all(bursar.events.list(events))
    const sentFilters = [
      fiatAccounts,
      depositInstructions,
      depositAddresses,
      statements,
      issuerQuotes,
      events,
    ]
    for (const [at, filters] of sentFilters.entries()) {
      const { pathname, searchParams } = new URL(requests[at]?.url ?? '')
      const names = document.paths[pathname].get.parameters.map(({ name = '' }) => name)
      assert.deepEqual([...new Set(searchParams.keys())].toSorted(), names.toSorted(), pathname)
      for (const [name, value] of Object.entries(filters)) {
        assert.deepEqual(searchParams.getAll(name), [value].flat().map(String), name)
      }
    }

    await bursar.fiatAccounts.get(fixtureIds['fiat-accounts'], { include_deleted: true })
    await bursar.fiatDepositInstructions.get(fixtureIds['fiat-deposit-instructions'])
    for await (const { id } of bursar.events.list()) {
      await bursar.events.get(id)
      break
    }
    await bursar.cryptoWithdrawalFees.create(withdrawal)
    const called = requests.map(({ method, url }) => {
      const { pathname } = new URL(url)
      return `${method} ${pathname.replace(/[0-9a-f]{8}-.*/, '{id}')}`
    })
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
    )
    assert.deepEqual([...new Set(called)].toSorted(), documented.toSorted())
  })
})

const withdrawal = { ...anyWithdrawal, amount: '100.10' } as const

describe('a list', () => {
  test('gives every record once, in order, over as many pages as it takes', async () => {
    const { body } = await service.call('/v2/issuer-quotes?limit=1000')
    assert.ok(body.issuer_quote_executions.length > 10)
    requests = []
    const read = await all(bursar.issuerQuotes.list({ limit: 7 }))
    assert.deepEqual(read, body.issuer_quote_executions)
    assert.equal(requests.length, Math.ceil(read.length / 7))
  })

  test('requests a page only when the loop reaches it, and starts anew in each loop', async () => {
    requests = []
    const list = bursar.fiatAccounts.list({ limit: 2 })
    assert.equal(requests.length, 0)
    const firstOf = async () => {
      for await (const { id } of list) return id
      return undefined
    }
    assert.equal(await firstOf(), await firstOf())
    assert.equal(requests.length, 2)
  })

  test('gives whole pages, and continues from a stored cursor', async () => {
    const pages = await all(bursar.depositAddresses.list({ limit: 40 }).pages())
    assert.ok(pages.length > 1)
    assert.deepEqual(pages.map(({ nextPageCursor }) => typeof nextPageCursor).toSorted(), [
      ...pages.slice(1).map(() => 'string'),
      'undefined',
    ])
    assert.equal(new Set(pages.map(({ requestId }) => requestId)).size, pages.length)
    const [first] = pages
    const page_cursor = first?.nextPageCursor ?? assert.fail()
    const rest = await all(bursar.depositAddresses.list({ limit: 1000, page_cursor }))
    assert.deepEqual(
      [...(first?.items ?? []), ...rest],
      pages.flatMap(({ items }) => items),
    )
  })

  test('is empty for an empty filter, and sends no request', async () => {
    requests = []
    assert.deepEqual(await all(bursar.fiatAccounts.list({ ids: [] })), [])
    const [page, ...others] = await all(bursar.fiatAccounts.list({ ids: [] }).pages())
    assert.ok(page !== undefined)
    const { headers, ...rest } = page
    assert.deepEqual(rest, { items: [], nextPageCursor: undefined, requestId: undefined })
    assert.deepEqual([headers.get('etag'), headers.has('etag'), others], [null, false, []])
    assert.equal(requests.length, 0)
  })

  test('refuses a filter without a value before anything is sent, and names it', async () => {
    requests = []
    const before = tokenRequests
    const bursar = clientOf()
    const id = fixtureIds['fiat-accounts']
    const hole: string[] = [id]
    hole.length = 2
    const faulty: readonly (readonly [unknown, RegExp])[] = [
      [{ ids: [undefined] }, /^ids must not contain undefined/],
      [{ ids: [id, null] }, /^ids must not contain null, as entry 1 is$/],
      [{ ids: hole }, /^ids must not contain undefined/],
      [{ ids: [], ref_ids: [null] }, /^ref_ids must not contain null/],
      [{ ids: null }, /^ids must not be null/],
      [{ limit: null }, /^limit must not be null/],
      [null, /^the filters must be an object/],
    ]
    for (const [filters, message] of faulty) {
      for (const { list } of [bursar.fiatAccounts, bursar.depositAddresses, bursar.issuerQuotes]) {
        assert.throws(() => Reflect.apply(list, undefined, [filters]), {
          name: 'TypeError',
          message,
        })
      }
    }
    const withNull = JSON.parse('{"include_deleted":null}')
    const message = /^include_deleted must not be null/
    await assert.rejects(bursar.fiatAccounts.get(id, withNull), { name: 'TypeError', message })
    const changed = { ids: [id] }
    const list = bursar.fiatAccounts.list(changed)
    changed.ids = [JSON.parse('null')]
    await assert.rejects(all(list), { name: 'TypeError', message: /^ids must not contain null/ })
    assert.deepEqual([requests.length, tokenRequests], [0, before])
  })

  test('takes a parameter that is undefined as absent', async () => {
    const filters = JSON.parse('{"limit":1000}')
    const read = await all(bursar.issuerQuotes.list({ ...filters, ids: undefined }))
    assert.deepEqual(read, await all(bursar.issuerQuotes.list({ limit: 1000 })))
  })

  test('throws if the server does not know a filter', async () => {
    const misspelt = JSON.parse('{"ref_id":"acme-account-0001"}')
    await assert.rejects(all(bursar.fiatAccounts.list(misspelt)), (error) => {
      assert.ok(error instanceof UnknownParameterError)
      assert.match(error.detail, /: ref_id$/)
      return true
    })
  })

  test('ends at once when its signal is aborted, between two records too', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    let count = 0
    const reading = (async () => {
      for await (const _ of bursar.statements.list(
        { customer_id: 'acme' },
        { signal: controller.signal },
      )) {
        count += 1
        if (count === 3) controller.abort(reason)
      }
    })()
    await assert.rejects(reading, (error) => error === reason)
    assert.equal(count, 3)
  })
})

describe('values', () => {
  test('amounts are the strings that the server sent', async () => {
    const fee = await bursar.cryptoWithdrawalFees.create(withdrawal)
    assert.equal(fee.amount, '100.10')
    assert.equal(typeof fee.total, 'string')
    for await (const { principal, token_principal } of bursar.issuerQuotes.list()) {
      assert.equal(typeof principal, 'string')
      assert.equal(typeof token_principal, 'string')
    }
  })

  test('types are as precise as the document', async () => {
    const account = await bursar.fiatAccounts.get(fixtureIds['fiat-accounts'])
    const fee = await bursar.cryptoWithdrawalFees.create(withdrawal)
    // @ts-expect-error: amounts are strings.
    const _number: number = fee.fee
    // @ts-expect-error: enums are closed.
    const _isClosed = account.status === 'CLOSED'
    // @ts-expect-error: filters have their own names.
    const _misspelt = () => bursar.fiatAccounts.list({ ref_id: ['R'] })
    // @ts-expect-error: statements are listed for a customer.
    const _customer = () => bursar.statements.list({})
    const quote = bursar.cryptoWithdrawalFees.create
    const { amount, ...figureless } = withdrawal
    // @ts-expect-error: exactly one of amount and total is given.
    const _undefined = () => quote({ ...withdrawal, amount: undefined })
    // @ts-expect-error: not both.
    const _both = () => quote({ ...withdrawal, total: '103' })
    // @ts-expect-error: not neither.
    const _neither = () => quote(figureless)
    const _one = () => [quote({ ...figureless, total: amount }), quote(withdrawal)]
    assert.equal(account.fiat_network_instructions.wire?.account_number, '5730008846')
  })
})

describe('a refused call throws a typed error', () => {
  test('400 with every faulty parameter', async () => {
    const list = bursar.fiatAccounts.list({ limit: 1001, 'created_at.gte': 'today' })
    await assert.rejects(all(list), (error) => {
      assert.ok(error instanceof BadRequestError)
      const { name, status, type, title, requestId } = error
      assert.deepEqual(
        [name, status, type, title],
        ['BadRequestError', 400, 'about:blank', 'Bad Request'],
      )
      assert.match(requestId ?? '', /^[0-9a-f-]{36}$/)
      assert.deepEqual(
        error.errors.map(({ parameter, code }) => `${parameter} ${code}`).toSorted(),
        ['created_at.gte malformed', 'limit out_of_range'],
      )
      return true
    })
  })

  test('400 with the type and the facts of its problem', async () => {
    const asked = bursar.cryptoWithdrawalFees.create({ ...withdrawal, asset: 'DOGE' })
    await assert.rejects(asked, (error) => {
      assert.ok(error instanceof BadRequestError)
      assert.equal(error.type, '/problems/unsupported-asset-network')
      assert.ok(Array.isArray(error.meta?.offered))
      return true
    })
  })

  test('403 for a scope that the token lacks, and only the requested scopes are granted', async () => {
    const narrow = clientOf(['statements:read_statement'])
    const statements = await all(narrow.statements.list({ customer_id: 'acme' }))
    assert.ok(statements.length > 0)
    await assert.rejects(all(narrow.fiatAccounts.list()), PermissionError)
  })

  test('404 for an unknown record', async () => {
    await assert.rejects(bursar.fiatAccounts.get(noRecord), NotFoundError)
    await assert.rejects(bursar.fiatDepositInstructions.get(noRecord), NotFoundError)
  })

  test('401 for a wrong secret, without the secret in it', async () => {
    const client = createBursar({
      baseUrl: service.url,
      clientId: acme.clientId,
      clientSecret: 'not_the_secret',
    })
    await assert.rejects(all(client.fiatAccounts.list()), (error) => {
      assert.ok(error instanceof AuthenticationError)
      assert.deepEqual([error.status, error.title], [401, 'invalid_client'])
      assert.ok(!JSON.stringify({ ...error, message: error.message }).includes('not_the_secret'))
      return true
    })
  })

  test('a client without a secret or with a malformed address is refused at once', () => {
    const clientSecret = ''
    assert.throws(
      () => createBursar({ baseUrl: service.url, clientId: 'a', clientSecret }),
      TypeError,
    )
    const at = (baseUrl: string) => () =>
      createBursar({ baseUrl, clientId: 'a', clientSecret: 'b' })
    assert.throws(at('127.0.0.1'), TypeError)
    for (const path of ['/v2', '/v2/', '/api/v2']) {
      const message = /^baseUrl must not end in \/v2/
      assert.throws(at(`https://api.example.com${path}`), { name: 'TypeError', message })
    }
    at('https://api.example.com/v2-preview')()
  })
})

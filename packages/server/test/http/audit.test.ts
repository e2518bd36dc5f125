import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AuditEntry, operatorScopes } from '@bursar/contract'
import { auditOf, changeAuditLog } from '../../../../test/support/audit.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import {
  acme,
  openPlace,
  startServiceAt,
  type TestService,
} from '../../../../test/support/harness.ts'
import { quoteFee, withdrawal } from '../../../../test/support/operation-calls.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'
import { testStore } from '../../../../test/support/test-database.ts'

/** What the audit log has of requests. */

const service = describeService()

/** The entries that the work adds, once its service has been stopped or not. */
async function added(work: () => Promise<unknown>, of: TestService = service) {
  const before = (await auditOf(of.place)).length
  await work()
  return (await auditOf(of.place)).slice(before).filter(({ action }) => action !== 'open_log')
}

const without = (entries: readonly AuditEntry[], ...actions: readonly string[]) =>
  entries.filter(({ action }) => !actions.includes(action))

const put = (token: string, id: string, changes: object = {}) =>
  service.call(`/ingest/v1/fiat-accounts/${id}`, {
    method: 'PUT',
    token,
    body: JSON.stringify(aFiatAccount({ id, ...changes })),
  })

const writer = (id: string) => operatorToken(service, id, operatorScopes)

describe('a write over HTTP', () => {
  test('has an entry with its record and customer, or with each of a batch', async () => {
    const token = await writer('core')
    const one = await added(() => put(token, anId(1)))
    const common = {
      action: 'put',
      kind: 'fiat-accounts',
      actor: { type: 'client', id: 'core' },
      operation: 'putFiatAccount',
      outcome: 'done',
      customers: ['acme'],
    }
    assert.deepEqual(one, [{ ...common, ids: [anId(1)], rows: 1 }])
    const ids = Array.from({ length: 20 }, (_, at) => anId(at + 2))
    const lines = await added(() => Promise.all(ids.map((id) => put(token, id))))
    const written = lines.flatMap((line) => line.ids ?? [])
    assert.deepEqual(written.toSorted(), ids.toSorted())
    assert.ok(lines.length < ids.length, `${lines.length} lines`)
    const removed = await added(() =>
      service.call(`/ingest/v1/fiat-accounts/${anId(1)}`, { method: 'DELETE', token }),
    )
    assert.deepEqual(
      removed.map(({ action, ids: named, outcome }) => [action, named, outcome]),
      [['delete', [anId(1)], 'done']],
    )
  })

  test('that changes nothing has none', async () => {
    const token = await writer('careless')
    const entries = await added(async () => {
      assert.equal((await put(token, anId(30), { customer_id: 7 })).status, 400)
      const unknown = `/ingest/v1/fiat-accounts/${anId(99)}`
      assert.equal((await service.call(unknown, { method: 'DELETE', token })).status, 404)
    })
    assert.deepEqual(entries, [])
  })

  test('of a stream has one entry with the import and its counts, also if it is refused', async () => {
    const token = await writer('streams')
    const post = (body: string) =>
      service.call('/ingest/v1/fiat-accounts', {
        method: 'POST',
        token,
        headers: { 'content-type': 'application/x-ndjson' },
        body,
      })
    const record = JSON.stringify(aFiatAccount({ id: anId(40) }))
    const [stored, ...others] = await added(() => post(`${record}\n`))
    const { ids = [], ...entry } = stored ?? assert.fail()
    assert.deepEqual(others, [])
    assert.deepEqual(entry, {
      action: 'import',
      kind: 'fiat-accounts',
      outcome: 'done',
      counts: { records: 1, added: 1, changed: 0, unchanged: 0, rejected: 0, withdrawn: 0 },
      actor: { type: 'client', id: 'streams' },
      operation: 'postFiatAccountRecords',
      rows: 1,
    })
    const found = await service.call(`/ingest/v1/imports/${ids[0]}`, { token })
    assert.equal(found.body.state, 'stored')
    const refused = await added(() => post('{"id":"no"}\n'))
    assert.deepEqual(
      refused.map(({ action, outcome, ids: named }) => [action, outcome, named?.length]),
      [['import', 'refused', 1]],
    )
  })

  test('that consumes a fee has an entry with the fee', async () => {
    const token = await writer('payouts')
    const id = await quoteFee(service)
    const entries = await added(() =>
      service.call(`/ingest/v1/fees/${id}/consume`, {
        method: 'POST',
        token,
        body: JSON.stringify({ customer_id: 'acme', ...withdrawal, withdrawal: 'payout-1' }),
      }),
    )
    assert.deepEqual(without(entries, 'refuse_stranger'), [
      {
        action: 'consume_fee',
        ids: [id],
        customers: ['acme'],
        actor: { type: 'client', id: 'payouts' },
        operation: 'consumeWithdrawalFee',
        rows: 1,
        outcome: 'done',
      },
    ])
  })
})

test('a full account is not answered where the store drops its entry', async () => {
  const account = '11111111-1111-4111-8111-111111111111'
  await auditedRun({}, async (own) => {
    const token = await operatorToken(own, 'auditor', operatorScopes)
    const read = () => own.call(`/ingest/v1/fiat-accounts/${account}`, { token })
    assert.equal((await read()).status, 200)
    await changeAuditLog(own.place, dropEveryLine)
    const { status, text } = await read()
    assert.equal(status, 503)
    assert.doesNotMatch(text, /account_number/)
  })
})

const dropEveryLine =
  testStore === 'postgres'
    ? `create function public.drop_line() returns trigger language plpgsql as
        $$ begin return null; end $$;
       create trigger dropping before insert on TABLE
         for each row execute function public.drop_line()`
    : `create trigger dropping before insert on TABLE begin select raise(ignore); end`

test('a token that its client revokes has an entry', async () => {
  const token = await service.tokenOf(acme)
  const entries = await added(() =>
    fetch(`${service.url}/oauth2/revoke`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${acme.clientId}:${acme.clientSecret}`)}` },
      body: new URLSearchParams({ token }),
    }),
  )
  const [{ ids = [], ...entry } = assert.fail()] = entries
  assert.deepEqual(entry, {
    action: 'revoke_token',
    actor: { type: 'client', id: acme.clientId },
    operation: '/oauth2/revoke',
    outcome: 'done',
  })
  assert.equal(ids.length, 1)
  assert.equal(JSON.stringify(entries).includes(token), false)
})

/** A service over a store that outlives it, so that its last entries can be read. */
async function auditedRun(
  env: Readonly<Record<string, string>>,
  work: (own: TestService) => Promise<void>,
) {
  const place = await openPlace(testStore, true)
  const own = await startServiceAt({ ...place, remove: async () => {} }, { env })
  try {
    await work(own)
    await own.stop()
    return await auditOf(place)
  } finally {
    await own.stop().catch(() => {})
    await place.remove()
  }
}

const hidden: string[] = []

const list = '/v2/transfer/fiat-accounts?limit=1'

test('what is frequent is counted: strangers by reason, customers by client and operation', async () => {
  let limited = 0
  const entries = await auditedRun({ BURSAR_REQUESTS_PER_SECOND_MAX: '3' }, async (own) => {
    for (let at = 0; at < 3; at += 1) await own.call(list, { token: 'no-token' })
    await own.call(list, { as: null })
    await fetch(`${own.url}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('CANARY:CANARY')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    const token = await own.tokenOf(acme)
    const calls = Array.from({ length: 8 }, () => own.call(list, { token }))
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    limited = statuses.filter((status) => status === 429).length
  })
  assert.ok(limited > 0)
  const counts = entries.filter(({ from }) => from !== undefined)
  const shown = counts.map(({ from: _from, until: _until, ...entry }) => JSON.stringify(entry))
  const client = { type: 'client', id: acme.clientId }
  const stranger = { action: 'refuse_stranger', actor: { type: 'stranger' }, outcome: 'refused' }
  assert.deepEqual(
    shown.toSorted(),
    [
      { ...stranger, reason: 'malformed', count: 3 },
      { ...stranger, reason: 'no valid header', count: 1 },
      { ...stranger, reason: 'client authentication', count: 1 },
      { action: 'limit', actor: client, outcome: 'refused', count: limited },
      {
        action: 'count_reads',
        actor: client,
        operation: 'listFiatAccounts',
        outcome: 'done',
        customer: 'acme',
        count: 8 - limited,
      },
    ]
      .map((entry) => JSON.stringify(entry))
      .toSorted(),
  )
})

test('refusals of callers with a valid token are counted by client and operation', async () => {
  const entries = await auditedRun({}, async (own) => {
    const reader = await operatorToken(own, 'reader', ['ingest:search'])
    const customer = await own.tokenOf(acme)
    const put = { method: 'PUT', body: JSON.stringify(aFiatAccount({ id: anId(50) })) }
    const refused = [
      ...Array.from({ length: 20 }, () => own.call('/ingest/v1/search?q=x', { token: customer })),
      ...Array.from({ length: 3 }, () =>
        own.call(`/ingest/v1/fiat-accounts/${anId(50)}`, { ...put, token: reader }),
      ),
    ]
    for (const { status } of await Promise.all(refused)) assert.equal(status, 403)
  })
  const refusals = entries.filter(({ action }) => action === 'refuse')
  const common = { action: 'refuse', outcome: 'refused' }
  assert.deepEqual(
    refusals.map(({ from: _from, until: _until, ...entry }) => entry),
    [
      {
        ...common,
        actor: { type: 'client', id: acme.clientId },
        operation: 'searchRecords',
        count: 20,
      },
      { ...common, actor: { type: 'client', id: 'reader' }, operation: 'putFiatAccount', count: 3 },
    ],
  )
})

test('reads of events, searches and histories are counted, or listed where auditCustomerReads is set', async () => {
  const account = '11111111-1111-4111-8111-111111111111'
  const run = (listed: boolean) =>
    auditedRun({ BURSAR_AUDIT_CUSTOMER_READS: String(listed) }, async (own) => {
      const token = await operatorToken(own, 'staff', ['ingest:search', 'ingest:read_history'])
      const { items } = (await own.call('/v2/events?limit=1')).body
      for (const path of [`/v2/events/${items[0]?.id}`, '/v2/events?limit=1']) {
        assert.equal((await own.call(path)).status, 200)
      }
      for (const path of [
        '/search?q=acme-quote-0001',
        `/fiat-accounts/${account}/history`,
        '/customers/acme/fiat-accounts?limit=2',
        '/customers',
        '/changes/latest',
        '/health',
      ]) {
        await own.call(`/ingest/v1${path}`, { token })
      }
    })
  const shown = (entries: readonly AuditEntry[], action: string) =>
    entries
      .filter((entry) => entry.action === action)
      .map(({ operation, customer, ids, count }) => [operation, customer, ids?.length, count])
      .toSorted()
  const counts = shown(await run(false), 'count_reads')
  assert.deepEqual(counts, [
    ['getEvent', 'acme', undefined, 1],
    ['getFiatAccountHistory', undefined, undefined, 1],
    ['listCustomers', undefined, undefined, 1],
    ['listEvents', 'acme', undefined, 2],
    ['listLatestChanges', undefined, undefined, 1],
    ['listPastFiatAccounts', undefined, undefined, 1],
    ['searchRecords', undefined, undefined, 1],
  ])
  const lines = shown(await run(true), 'read')
  assert.deepEqual(lines, [
    ['getEvent', 'acme', 1, undefined],
    ['getFiatAccountHistory', undefined, 1, undefined],
    ['listCustomers', undefined, undefined, undefined],
    ['listEvents', 'acme', undefined, undefined],
    ['listEvents', 'acme', undefined, undefined],
    ['listLatestChanges', undefined, undefined, undefined],
    ['listPastFiatAccounts', 'acme', undefined, undefined],
    ['searchRecords', undefined, undefined, undefined],
  ])
})

test('auditCustomerReads lists each read of a customer’s own records', async () => {
  const entries = await auditedRun({ BURSAR_AUDIT_CUSTOMER_READS: 'true' }, async (own) => {
    await own.call(list)
    await own.call('/v2/transfer/fiat-accounts/11111111-1111-4111-8111-111111111111')
  })
  const common = {
    action: 'read',
    outcome: 'done',
    actor: { type: 'client', id: acme.clientId },
    customer: 'acme',
    rows: 1,
  }
  const read = entries.filter(({ action }) => action === 'read' || action === 'count_reads')
  const shown = read.map((entry) => JSON.parse(JSON.stringify(entry)))
  assert.deepEqual(shown, [
    { ...common, operation: 'listFiatAccounts' },
    { ...common, operation: 'getFiatAccount', ids: ['11111111-1111-4111-8111-111111111111'] },
  ])
})

test('no entry has a secret, a token, a query, a header, a body or an account number', async () => {
  const canary = 'CANARY5730008846'
  const entries = await auditedRun({ BURSAR_AUDIT_CUSTOMER_READS: 'true' }, async (own) => {
    const tokens = [
      await own.tokenOf(acme),
      await operatorToken(own, 'auditor', operatorScopes),
      await operatorToken(own, 'searcher', ['ingest:search']),
      canary,
    ]
    const account = '11111111-1111-4111-8111-111111111111'
    const paths = [
      [`GET`, `${list}&ref_ids=${canary}&${canary}=1`],
      [`GET`, `/v2/transfer/fiat-accounts/${canary}`],
      [`GET`, `/ingest/v1/search?q=${canary}`],
      [`GET`, `/ingest/v1/fiat-accounts/${account}`],
      [`GET`, `/ingest/v1/fiat-accounts/${account}/history?limit=1&page_cursor=${canary}`],
      [`GET`, `/ingest/v1/customers/${canary}/fiat-accounts?view=full`],
      [`GET`, `/ingest/v1/customers/${canary}/fiat-accounts`],
      [`GET`, `/ingest/v1/customers/acme/fiat-accounts?view=full&ref_ids=${canary}`],
      [`PUT`, `/ingest/v1/fiat-accounts/${account}`],
      [`PUT`, `/ingest/v1/fiat-accounts/${canary}`],
      [`DELETE`, `/ingest/v1/fiat-accounts/${canary}`],
      [`POST`, `/ingest/v1/fiat-accounts`],
      [`POST`, `/ingest/v1/fees/${canary}/consume`],
      [`POST`, `/ingest/v1/imports/${canary}/cancel`],
      [`POST`, `/v2/transfer/fees/crypto-withdrawal`],
    ] as const
    const headers = {
      'x-request-id': canary,
      'idempotency-key': canary,
      'if-match': `"${canary}"`,
      'content-type': 'application/x-ndjson',
      'user-agent': canary,
    }
    const body = JSON.stringify(aFiatAccount({ id: account, ref_id: canary }))
    for (const token of tokens) {
      for (const [method, path] of paths) {
        const sent = method === 'GET' ? {} : { body }
        await fetch(`${own.url}${path}`, {
          method,
          headers: { ...headers, authorization: `Bearer ${token}` },
          ...sent,
        })
      }
    }
    for (const path of ['token', 'revoke', 'introspect']) {
      for (const [id, secret] of [
        [acme.clientId, acme.clientSecret],
        [canary, canary],
      ] as const) {
        await fetch(`${own.url}/oauth2/${path}?${canary}=1`, {
          method: 'POST',
          headers: { ...headers, authorization: `Basic ${btoa(`${id}:${secret}`)}` },
          body: new URLSearchParams({
            grant_type: 'client_credentials',
            scope: canary,
            token: tokens[0] ?? '',
          }),
        })
      }
    }
    const numbers = await own.call(`/ingest/v1/customers/acme/fiat-accounts?view=full`, {
      token: tokens[1] ?? '',
    })
    hidden.push(...tokens, ...numbersIn(numbers.text), acme.clientSecret)
  })
  const log = JSON.stringify(entries)
  assert.ok(entries.length > 10)
  for (const text of [...hidden, 'CANARY', '5730008846', 'limit=', 'ref_ids']) {
    assert.equal(log.includes(text), false, text)
  }
})

const numbersIn = (body: string): string[] =>
  Array.from(body.matchAll(/"account_number":"([^"]{6,})"/g), ([, number = '']) => number)

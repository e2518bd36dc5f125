import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { auditOf } from '../../../test/support/audit.ts'
import { startTestService, type TestService } from '../../../test/support/harness.ts'
import { operatorToken } from '../../../test/support/operator-token.ts'
import { systemMs, until } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { fixtureIds } from '../../sandbox/src/story.ts'
import { startProcess } from './support/process.ts'

/** Persons who sign in at a trusted issuer, and what their rights let them do. */

const all = ['look_up', 'see_full', 'export']
const people = {
  clientId: 'console',
  claim: 'groups',
  grants: [
    { value: 'support', customer: '*', rights: ['look_up'] },
    { value: 'leads', customer: '*', rights: all },
    { value: 'finance/{customer}', customer: '{customer}', rights: all },
  ],
}

/** A service that trusts an issuer in another process, and tokens of persons there. */
async function personWorld(context: TestContext, trust: object = {}) {
  const issuer = await startProcess(context, './issuer-process.ts')
  const trusted = {
    issuer: issuer.url,
    audience: 'bursar',
    algorithms: ['RS256'],
    people,
    ...trust,
  }
  const env = { BURSAR_TRUSTED_ISSUERS: JSON.stringify([trusted]) }
  const service = await startTestService({ env })
  const accesses = async () =>
    (await auditOf(service.place)).filter(({ action }) =>
      ['view_in_full', 'export'].includes(action),
    )
  context.after(() => service.stop())
  const tokenOf = async (groups: unknown, changes: object = {}): Promise<string> => {
    const now = Math.floor(systemMs() / 1000)
    const good = { aud: 'bursar', sub: 'ada', client_id: 'console', iat: now, exp: now + 300 }
    const body = JSON.stringify({ claims: { ...good, groups, ...changes } })
    const answer = await fetch(`${issuer.url}/sign`, { method: 'POST', body })
    return JSON.parse(await answer.text()).token
  }
  const rotate = () => fetch(`${issuer.url}/rotate`, { method: 'POST', body: '{}' })
  return { accesses, service, tokenOf, rotate }
}

const account = `/ingest/v1/fiat-accounts/${fixtureIds['fiat-accounts']}`
const list = '/ingest/v1/customers/acme/fiat-accounts?limit=1'
const masked = 'XXXXXX8846'
const numberOf = (record: {
  fiat_network_instructions: { wire: { account_number: string } }
}): string => record.fiat_network_instructions.wire.account_number

const withReason = (token: string, reason: string) => ({
  token,
  headers: { 'access-reason': encodeURIComponent(reason) },
})

test('a person reads what the rights of the claim grant, and no more', async (t) => {
  const { service, tokenOf } = await personWorld(t)
  const [support, lead] = [await tokenOf('support'), await tokenOf(['other', 'leads'])]
  const caller = await service.call('/ingest/v1/caller', { token: support })
  const lookUp = ['ingest:search', 'ingest:read_history', 'ingest:read_health']
  assert.deepEqual(caller.body, { subject: 'ada', scopes: lookUp })
  const page = await service.call(list, { token: support })
  assert.equal(numberOf(page.body.items[0]), masked)
  for (const path of [account, `${list}&view=full`, `${list}&purpose=export`]) {
    assert.equal((await service.call(path, withReason(support, 'audit'))).status, 403, path)
    assert.equal((await service.call(path, withReason(lead, 'audit'))).status, 200, path)
  }
  // A person is no client of a customer.
  assert.equal((await service.call('/v2/issuer-quotes', { token: lead })).status, 401)
  const put = { token: lead, method: 'PUT', body: '{}' }
  assert.equal((await service.call(account, put)).status, 403)
})

test('a person who waits is answered 401 once the issuer has taken the key away', async (t) => {
  const { service, tokenOf, rotate } = await personWorld(t)
  const token = await tokenOf('support')
  const changes = '/ingest/v1/changes?limit=1000&page_cursor='
  let end = ''
  for (let isLast = false; !isLast; ) {
    const { body } = await service.call(changes + end, { token })
    end = encodeURIComponent(body.resume_cursor)
    isLast = body.next_page_cursor === undefined
  }
  using time = takeTime()
  const waiting = service.call(`${changes}${end}&wait=30`, { token })
  await until(() => service.parts.store.customers.changes.waiting() === 1)
  await service.parts.oauth.refresh()
  await time.advance(limitNamed('rightCheckedMs'))
  // The key is still published. A reader that looks again waits on.
  await until(() => service.parts.store.customers.changes.waiting() === 1)
  await rotate()
  await service.parts.oauth.refresh()
  await time.advance(limitNamed('rightCheckedMs'))
  assert.equal((await waiting).status, 401)
})

test('a full view needs a reason that the log may keep', async (t) => {
  const { service, tokenOf } = await personWorld(t)
  const token = await tokenOf('leads')
  for (const [reason, detail] of [
    [undefined, /a person must give a reason in the header Access-Reason/],
    [' ', /a person must give a reason/],
    ['%', /percent-encoded text of at most 200/],
    ['x'.repeat(201), /percent-encoded text of at most 200/],
    ...[
      'account 5730008846',
      '5730 0088-46',
      '57300.08846',
      '5730/0088/46',
      '5730_0088_46',
      '5730–0088–46',
      '5730\u00a00088\u00a046',
      '５７３０００８８４６',
      '123456',
    ].map((reason) => [reason, /must not hold a number of six digits/] as const),
    ['a \u202e b', /percent-encoded text of at most 200/],
    // A soft hyphen, a combining joiner, and a Hangul filler, which Unicode counts as a letter.
    ...['ab\u00ad', 'ab\u034f', '\u3164\u3164'].map(
      (reason) => [reason, /percent-encoded text of at most 200/] as const,
    ),
    ...['.', '-', 'x', '\u2800\u2800', '…!?'].map(
      (reason) => [reason, /must say why, with at least two letters or digits/] as const,
    ),
  ] as const) {
    const headers =
      reason === undefined
        ? {}
        : { 'access-reason': reason === '%' ? '%' : encodeURIComponent(reason) }
    for (const path of [account, `${list}&view=full`]) {
      const { status, body } = await service.call(path, { token, headers })
      assert.equal(status, 400, `${path} ${reason}`)
      assert.match(body.detail, detail, `${path} ${reason}`)
    }
  }
  const shown = await service.call(account, withReason(token, 'Rückfrage 4711'))
  assert.equal(numberOf(shown.body), '5730008846')
})

test('a history is masked until its reader may see it in full', async (t) => {
  const { service, tokenOf } = await personWorld(t)
  const numbers = async (call: Parameters<TestService['call']>[1]) => {
    const { body } = await service.call(`${account}/history`, call)
    const found: Parameters<typeof numberOf>[0][] = body.versions.map(
      ({ record }: { record: Parameters<typeof numberOf>[0] }) => record,
    )
    return [...new Set(found.map(numberOf))]
  }
  const [support, lead] = [await tokenOf('support'), await tokenOf('leads')]
  assert.deepEqual(await numbers(withReason(support, 'audit')), [masked])
  assert.deepEqual(await numbers({ token: lead }), [masked])
  assert.deepEqual(await numbers(withReason(lead, 'audit')), ['5730008846'])
  const reader = await operatorToken(service, 'reader', ['ingest:read_history'])
  assert.deepEqual(await numbers({ token: reader }), [masked])
  const full = await service.call(`${list}&view=full`, { token: reader })
  assert.equal(full.body.detail, 'the full view requires the scope ingest:read_record too')
  const both = ['ingest:read_history', 'ingest:read_record']
  const auditor = await operatorToken(service, 'auditor', both)
  assert.deepEqual(await numbers({ token: auditor }), ['5730008846'])
})

test('a customer’s person is kept to that customer', async (t) => {
  const { service, tokenOf } = await personWorld(t)
  const token = await tokenOf('finance/borealis')
  const { body: caller } = await service.call('/ingest/v1/caller', { token })
  assert.equal(caller.customer_id, 'borealis')
  assert.ok(!caller.scopes.includes('ingest:read_health'))
  assert.equal((await service.call(list, { token })).status, 404)
  assert.equal((await service.call(list.replace('acme', 'borealis'), { token })).status, 200)
  assert.equal((await service.call(account, withReason(token, 'audit'))).status, 404)
  assert.equal((await service.call(`${account}/history`, { token })).status, 404)
  const found = await service.call(`/ingest/v1/search?q=${fixtureIds['fiat-accounts']}`, { token })
  assert.deepEqual(found.body, { customers: [], hits: [] })
})

test('a token of a person may name 200 groups, and is refused with 600', async (t) => {
  const { service, tokenOf } = await personWorld(t)
  const statusWith = async (count: number) => {
    const token = await tokenOf([...Array.from({ length: count }, (_, at) => `g${at}`), 'leads'])
    return (await service.call('/ingest/v1/caller', { token })).status
  }
  assert.equal(await statusWith(200), 200)
  assert.equal(await statusWith(600), 401)
})

test('a token of a person without one clear grant is refused', async (t) => {
  const { service, tokenOf } = await personWorld(t)
  for (const [groups, changes] of [
    [undefined, {}],
    ['nobody', {}],
    [[], {}],
    ['finance/', {}],
    ['finance/*', {}],
    [['finance/acme', 'finance/borealis'], {}],
    [['support', 'finance/acme'], {}],
    ['leads', { sub: 'console' }],
    ['leads', { sub: '' }],
    ['leads', { sub: { a: 1 } }],
    ['leads', { sub: ['lead'] }],
    ['leads', { sub: 7.5 }],
    ['finance/acme/other', {}],
    ['finance/a\nb', {}],
    ['leads', { exp: Math.floor(systemMs() / 1000) + 7200 }],
    ['leads', { nonce: 'x' }],
    ['leads', { client_id: 'another' }],
    ['leads', { aud: 'elsewhere' }],
  ] as const) {
    const token = await tokenOf(groups, changes)
    const { status } = await service.call('/ingest/v1/caller', { token })
    assert.equal(status, 401, JSON.stringify([groups, changes]))
  }
})

test('the audit log names who sees in full or exports, and nothing else', async (t) => {
  const { accesses, service, tokenOf } = await personWorld(t)
  const [support, token] = [await tokenOf('support'), await tokenOf('leads')]
  const id = fixtureIds['fiat-accounts']
  const seen = withReason(token, 'audit 12')
  const { headers } = await service.call(account, seen)
  const etag = String(headers.get('etag'))
  const again = { ...seen, headers: { ...seen.headers, 'if-none-match': etag } }
  assert.equal((await service.call(account, again)).status, 304)
  await service.call(`${list}&view=full`, seen)
  await service.call(`${list}&purpose=export`, { token })
  await service.call(`${list}&purpose=export&view=full`, seen)
  await service.call(`${account}/history`, seen)
  const [first] = await accesses()
  const common = { actor: first?.actor, outcome: 'done', kind: 'fiat-accounts' }
  assert.deepEqual(Object.keys(first?.actor ?? {}), ['type', 'issuer', 'subject'])
  const full = { ...common, view: 'full', reason: 'audit 12' }
  assert.deepEqual(
    (await accesses()).map(({ operation: _operation, rows: _rows, ...entry }) => entry),
    [
      { ...full, action: 'view_in_full', ids: [id], customer: 'acme' },
      { ...full, action: 'view_in_full', ids: [id], customer: 'acme' },
      { ...full, action: 'view_in_full', customer: 'acme' },
      { ...common, action: 'export', view: 'customer', customer: 'acme' },
      { ...full, action: 'export', customer: 'acme' },
      { ...full, action: 'view_in_full', ids: [id], customer: 'acme' },
    ],
  )
  const auditor = await operatorToken(service, 'auditor', ['ingest:read_record'])
  await service.call(account, { token: auditor })
  const { operation: _operation, rows: _rows, ...ofClient } = (await accesses()).at(-1) ?? {}
  assert.deepEqual(ofClient, {
    ...common,
    actor: { type: 'client', id: 'auditor' },
    action: 'view_in_full',
    view: 'full',
    ids: [id],
    customer: 'acme',
  })
  const before = (await accesses()).length
  const unknown = '/ingest/v1/customers/5730008846/fiat-accounts?purpose=export'
  const ofAll = '/ingest/v1/fiat-accounts?purpose=export'
  for (const [path, call] of [
    [list, { token }],
    [`${account}/history`, { token }],
    [`${account}/history`, withReason(support, 'audit')],
    [account.replace('1111', '9999'), seen],
    [account, withReason(support, 'audit')],
    [unknown, { token }],
    [`${ofAll}&customer_id=5730008846`, { token }],
    [ofAll.replace('export', 'look_up'), { token }],
    [`/ingest/v1/search?q=${id}`, { token }],
  ] as const) {
    await service.call(path, call)
    assert.equal((await accesses()).length, before, path)
  }
})

test('the audit log names who exports the records of all customers', async (t) => {
  const { accesses, service, tokenOf } = await personWorld(t)
  const [support, token] = [await tokenOf('support'), await tokenOf('leads')]
  const ofAll = '/ingest/v1/fiat-accounts?purpose=export'
  assert.equal((await service.call(ofAll, { token: support })).status, 403)
  assert.equal((await service.call(ofAll, { token })).status, 200)
  assert.equal((await service.call(`${ofAll}&customer_id=acme`, { token })).status, 200)
  assert.deepEqual(
    (await accesses()).map(({ action, kind, customer, view }) => [action, kind, customer, view]),
    [
      ['export', 'fiat-accounts', undefined, 'customer'],
      ['export', 'fiat-accounts', 'acme', 'customer'],
    ],
  )
})

test('a token of the console’s client itself is nobody’s', async (t) => {
  const clientCredentials = { claim: 'gty', value: 'client-credentials' }
  const { service, tokenOf } = await personWorld(t, { clientCredentials })
  const own = { sub: 'console@clients', gty: 'client-credentials' }
  const refused = await service.call('/ingest/v1/caller', { token: await tokenOf('leads', own) })
  assert.equal(refused.status, 401)
})

test('health tells the operator’s callers what each part does', async (t) => {
  const { service, tokenOf } = await personWorld(t)
  const { status, body } = await service.call('/ingest/v1/health', {
    token: await tokenOf('support'),
  })
  assert.equal(status, 200)
  assert.equal(body.status, 'ready')
  assert.equal(body.checks.store.status, 'ok')
  const customers = await tokenOf('finance/acme')
  assert.equal((await service.call('/ingest/v1/health', { token: customers })).status, 403)
})

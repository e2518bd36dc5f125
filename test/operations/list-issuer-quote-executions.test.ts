import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertFault, assertForbidden, assertPage, assertUnauthorized } from '../support/expect.ts'
import { acme, startTestService, type TestService } from '../support/harness.ts'

const path = '/v2/issuer-quotes'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

const execution = {
  id: '55555555-5555-4555-8555-555555555555',
  ref_id: 'acme-quote-0001',
  profile_id: '44948a86-badb-4e58-a0b5-3306638a8687',
  asset_type: 'USDG',
  status: 'PENDING',
  principal: '232117.50',
  fee: '0',
  token_principal: '232117.50',
  token_fee: '0',
  token_price: '1',
  created_at: '2026-10-31T12:00:00Z',
}

test('200: answers an execution whole, under its own envelope', async () => {
  assertPage(await service.call(`${path}?ids=${execution.id}`), {
    issuer_quote_executions: [execution],
  })
})

test('200: filters by profile, status and ref_id', async () => {
  const query = `profile_id=${execution.profile_id}&status=PENDING&ref_ids=acme-quote-0001`
  assertPage(await service.call(`${path}?${query}`), { issuer_quote_executions: [execution] })
  const failed = query.replace('PENDING', 'FAILED')
  assertPage(await service.call(`${path}?${failed}`), { issuer_quote_executions: [] })
})

test('200: takes both ends of created_range in', async () => {
  const all = await service.call(`${path}?limit=5`)
  const [newest, , , , oldest] = all.body.issuer_quote_executions
  const range = `created_range.begin=${oldest.created_at}&created_range.end=${newest.created_at}`
  const called = await service.call(`${path}?${range}`)
  assertPage(called, { issuer_quote_executions: all.body.issuer_quote_executions })
})

test('200: carries amounts through as they were sent', async () => {
  const called = await service.call(`${path}?limit=1000`)
  const principals = called.body.issuer_quote_executions.map(
    (one: typeof execution) => one.token_principal,
  )
  for (const amount of ['.5', '-00.5', '123456789.123456789012345678']) {
    assert.ok(principals.includes(amount), amount)
  }
})

test('400: tells a time that is none', async () => {
  assertFault(
    await service.call(`${path}?created_range.begin=yesterday`),
    path,
    'created_range.begin',
    'must be an RFC 3339 date-time such as 2026-01-31T09:30:00Z',
  )
})

test('401: wants a token', async () => {
  assertUnauthorized(await service.call(path, { as: null }), path)
})

test('403: wants its scope', async () => {
  const token = await service.tokenOf(acme, 'statements:read_statement')
  assertForbidden(
    await service.call(path, { token }),
    path,
    'statements:read_statement',
    'exchange:read_issuer_quote_execution',
  )
})

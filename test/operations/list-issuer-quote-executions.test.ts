import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertPage } from '../support/assert-answer.ts'
import { describeService } from '../support/describe-service.ts'

const path = '/v2/issuer-quotes'

const service = describeService()

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

test('answers the whole execution under issuer_quote_executions', async () => {
  assertPage(await service.call(`${path}?ids=${execution.id}`), {
    issuer_quote_executions: [execution],
  })
})

test('filters by profile_id, status and ref_ids together', async () => {
  const query = `profile_id=${execution.profile_id}&status=PENDING&ref_ids=acme-quote-0001`
  assertPage(await service.call(`${path}?${query}`), { issuer_quote_executions: [execution] })
  const failed = query.replace('PENDING', 'FAILED')
  assertPage(await service.call(`${path}?${failed}`), { issuer_quote_executions: [] })
})

test('created_range includes both of its ends', async () => {
  const all = await service.call(`${path}?limit=5`)
  const [newest, , , , oldest] = all.body.issuer_quote_executions
  const range = `created_range.begin=${oldest.created_at}&created_range.end=${newest.created_at}`
  const called = await service.call(`${path}?${range}`)
  assertPage(called, { issuer_quote_executions: all.body.issuer_quote_executions })
})

test('answers amounts exactly as they were imported', async () => {
  const called = await service.call(`${path}?limit=1000`)
  const principals = called.body.issuer_quote_executions.map(
    (one: typeof execution) => one.token_principal,
  )
  for (const amount of ['.5', '-00.5', '123456789.123456789012345678']) {
    assert.ok(principals.includes(amount), amount)
  }
})

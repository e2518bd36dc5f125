import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Clock } from '../../src/platform/clock.ts'
import { startTestService, type TestService } from '../support/harness.ts'

const startedAt = BigInt(Date.UTC(2026, 10, 21)) * 1000n
let aheadSeconds = 0n
const clock: Clock = () => startedAt + aheadSeconds * 1_000_000n

let service: TestService

before(async () => {
  service = await startTestService({ clock })
})
beforeEach(() => service.parts.oauth.refresh())
after(() => service.stop())

const account = '/v2/transfer/fiat-accounts?limit=1'

describe('/healthz', () => {
  test('answers ok without a token, and is not cached', async () => {
    const called = await service.call('/healthz', { as: null })
    assert.equal(called.status, 200)
    assert.equal(called.headers.get('cache-control'), 'no-store')
    assert.deepEqual(called.body, { status: 'ok' })
  })
})

describe('/readyz', () => {
  test('answers ready when every part is', async () => {
    const called = await service.call('/readyz', { as: null })
    assert.equal(called.status, 200)
    assert.equal(called.headers.get('cache-control'), 'no-store')
    assert.equal(called.body.status, 'ready')
    for (const part of Object.values<{ status: string }>(called.body.checks)) {
      assert.equal(part.status, 'ok')
    }
  })

  test('is 503, as are requests, when the loaded clients and revocations are too old', async () => {
    const token = await service.tokenOf({
      customerId: 'acme',
      clientId: 'acme_sandbox',
      clientSecret: 'bursar_sandbox_secret_of_acme',
    })
    assert.equal((await service.call(account, { token })).status, 200)
    await service.parts.oauth.refresh()
    // In the same tick as the calls, so that no refresh runs in between.
    aheadSeconds += 61n
    const [ready, called] = await Promise.all([
      service.call('/readyz', { as: null }),
      service.call(account, { token }),
    ])
    for (const refused of [ready, called]) {
      assert.equal(refused.status, 503)
      assert.equal(refused.headers.get('content-type'), 'application/problem+json')
      assert.match(String(refused.headers.get('retry-after')), /^[1-9]\d*$/)
      assert.equal(refused.body.request_id, refused.headers.get('x-request-id'))
    }
    assert.match(ready.body.detail, /credentials/)
    assert.equal((await service.call('/healthz', { as: null })).status, 200)

    await service.parts.oauth.refresh()
    assert.equal((await service.call('/readyz', { as: null })).status, 200)
    assert.equal((await service.call(account, { token })).status, 200)
  })
})

test('/ redirects to the API page', async () => {
  const called = await service.call('/', { as: null })
  assert.equal(called.status, 302)
  assert.equal(called.headers.get('location'), '/docs/')
})

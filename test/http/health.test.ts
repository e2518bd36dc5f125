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
  test('says that the process runs, to everyone, and is never cached', async () => {
    const called = await service.call('/healthz', { as: null })
    assert.equal(called.status, 200)
    assert.equal(called.headers.get('cache-control'), 'no-store')
    assert.deepEqual(called.body, { status: 'ok' })
  })
})

describe('/readyz', () => {
  test('says that every part answers', async () => {
    const called = await service.call('/readyz', { as: null })
    assert.equal(called.status, 200)
    assert.equal(called.headers.get('cache-control'), 'no-store')
    assert.equal(called.body.status, 'ready')
    for (const part of Object.values<{ status: string }>(called.body.checks)) {
      assert.equal(part.status, 'ok')
    }
  })

  test('fails, and requests with it, when clients and revoked tokens are too old to decide by', async () => {
    const token = await service.tokenOf({
      customerId: 'acme',
      clientId: 'acme_sandbox',
      clientSecret: 'bursar_sandbox_secret_of_acme',
    })
    assert.equal((await service.call(account, { token })).status, 200)
    await service.parts.oauth.refresh()
    // In one turn with the calls' start, so that no poll comes between.
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

test('the bare address leads a browser to the API page', async () => {
  const called = await service.call('/', { as: null })
  assert.equal(called.status, 302)
  assert.equal(called.headers.get('location'), '/docs/')
})

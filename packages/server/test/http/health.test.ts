import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { Clock } from '@bursar/base'
import { Problem, type Request } from '@bursar/contract'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, type Called, callUrl } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/until.ts'
import { passTime } from '../../../../test/support/virtual-time.ts'
import { healthRoutes } from '../../src/documents/health.ts'

const startedAt = BigInt(Date.UTC(2026, 10, 21)) * 1000n
const clock: Clock = () => startedAt

const service = describeService({ clock, env: { BURSAR_OPERATOR_PORT: '0' } })

beforeEach(() => service.parts.oauth.refresh())

const operatorReadiness = () => callUrl(`${service.operatorUrl}/readyz`, {})

/** Asks while what is known is too old. A look at the store may come between, so it asks again. */
async function askLate(...asked: readonly (() => Promise<Called>)[]): Promise<Called[]> {
  let called: Called[] = []
  await until(async () => {
    passTime(60_001)
    called = await Promise.all(asked.map((ask) => ask()))
    return called.every(({ status }) => status !== 200)
  })
  return called
}

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
  test('answers ready when every part is, and names no part', async () => {
    const called = await service.call('/readyz', { as: null })
    assert.equal(called.status, 200)
    assert.equal(called.headers.get('cache-control'), 'no-store')
    assert.deepEqual(called.body, { status: 'ready' })
  })

  test('is 503, as are requests, when the loaded clients and revocations are too old', async () => {
    const token = await service.tokenOf(acme)
    assert.equal((await service.call(account, { token })).status, 200)
    const answers = await askLate(
      () => service.call('/readyz', { as: null }),
      () => service.call(account, { token }),
    )
    for (const refused of answers) {
      assert.equal(refused.status, 503)
      assert.equal(refused.headers.get('content-type'), 'application/problem+json')
      assert.match(String(refused.headers.get('retry-after')), /^[1-9]\d*$/)
      assert.equal(refused.body.request_id, refused.headers.get('x-request-id'))
    }
    const [ready] = answers
    assert.equal(ready?.body.detail, 'the service is not ready; try again shortly')
    assert.equal(ready?.body.meta, undefined)
    assert.equal((await service.call('/healthz', { as: null })).status, 200)

    await service.parts.oauth.refresh()
    assert.equal((await service.call('/readyz', { as: null })).status, 200)
    assert.equal((await service.call(account, { token })).status, 200)
  })
})

describe('the operator’s port', () => {
  test('reports every part of readiness, and which process answered', async () => {
    const called = await operatorReadiness()
    assert.equal(called.status, 200)
    assert.equal(called.headers.get('cache-control'), 'no-store')
    const { checks, jobs, requests, ...rest } = called.body
    assert.deepEqual(rest, { status: 'ready', pid: process.pid })
    assert.deepEqual(Object.keys(requests), ['minutes'])
    const parts = ['store', 'integrity', 'credentials', 'fees', 'process', 'log', 'imports']
    assert.deepEqual(Object.keys(checks), parts)
    for (const part of Object.values<{ status: string }>(checks)) assert.equal(part.status, 'ok')
    assert.ok(jobs.length > 0)
  })

  test('names the part that is not ready', async () => {
    const [called] = await askLate(operatorReadiness)
    assert.ok(called)
    assert.equal(called.status, 503)
    assert.equal(called.headers.get('retry-after'), '1')
    assert.equal(called.body.detail, 'not ready: credentials')
    assert.deepEqual(called.body.meta.checks.credentials, {
      status: 'failed',
      reason: 'clients, keys and revoked tokens are too old to decide by',
    })
    assert.equal(called.body.meta.checks.store.status, 'ok')
  })

  test('is not ready on a restored store until its clients are confirmed', async () => {
    const { credentials, oauth } = service.parts
    const readiness = async () => {
      await oauth.refresh()
      const { status, body } = await operatorReadiness()
      return status === 200 ? status : body.detail
    }
    const restored = { restoredTo: clock(), restoredAt: clock(), quotesBefore: clock() }
    await credentials.startRecovery(restored, 0n)
    assert.equal(await readiness(), 'not ready: credentials')
    await credentials.confirmClients(clock())
    assert.equal(await readiness(), 200)
    await credentials.endRecovery(clock())
  })

  test('listens on loopback only, and serves nothing of the API', async () => {
    assert.equal(new URL(service.operatorUrl).hostname, '127.0.0.1')
    assert.equal((await callUrl(`${service.operatorUrl}/healthz`, {})).status, 200)
    for (const path of [account, '/openapi.json', '/docs/', '/.well-known/jwks.json']) {
      assert.equal((await callUrl(`${service.operatorUrl}${path}`, {})).status, 404, path)
    }
  })
})

test('requests for /readyz share the check that runs', async () => {
  let runs = 0
  const check = async () => {
    runs += 1
    return undefined
  }
  const routes = healthRoutes([{ name: 'store', check }])
  const readiness = routes.find(({ path }) => path === '/readyz')
  assert.ok(readiness)
  const request = {} as Request
  await Promise.all(Array.from({ length: 100 }, () => readiness.answer(request)))
  assert.equal(runs, 1)
  await readiness.answer(request)
  assert.equal(runs, 2)
})

test('a 503 of /readyz names the failed parts and their reasons to the log only', async () => {
  const check = () => Promise.reject(new Error('no database'))
  const routes = healthRoutes([
    { name: 'store', check },
    { name: 'fees', check: async () => ({ status: 'failed', reason: 'no prices' }) },
    { name: 'other', check: async () => ({ status: 'degraded' }) },
  ])
  const readiness = routes.find(({ path }) => path === '/readyz')
  await assert.rejects(
    async () => readiness?.answer({} as Request),
    (problem) => {
      assert.ok(problem instanceof Problem)
      assert.equal(problem.detail, 'the service is not ready; try again shortly')
      assert.equal(problem.meta, undefined)
      assert.equal(
        (problem.cause as Error).message,
        'not ready: store (no database), fees (no prices)',
      )
      return true
    },
  )
})

test('/ redirects to the API page', async () => {
  const called = await service.call('/', { as: null })
  assert.equal(called.status, 302)
  assert.equal(called.headers.get('location'), 'docs/')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertProblem } from '../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, borealis, type Called, startTestService } from '../../../../test/support/harness.ts'
import { takeTime } from '../../../../test/support/virtual-time.ts'

const perSecond = 4
const path = '/v2/transfer/fiat-accounts?limit=1'

const env = { BURSAR_REQUESTS_PER_SECOND_MAX: String(perSecond) }
const limited = describeService({ env })
const free = describeService()

test('limits /oauth2 for each client and for each address', async (t) => {
  const env = { BURSAR_OAUTH_REQUESTS_PER_SECOND_MAX: '3', BURSAR_TRUSTED_PROXIES: '127.0.0.1' }
  const service = await startTestService({ env })
  t.after(service.stop)
  const post = (customer: typeof acme, address: string) =>
    service.call('/oauth2/token', {
      as: null,
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-forwarded-for': address,
      },
      body: `grant_type=client_credentials&client_id=${customer.clientId}&client_secret=${customer.clientSecret}`,
    })
  const burst = async (calls: readonly Promise<Called>[]) => {
    const called = await Promise.all(calls)
    const refused = called.filter(({ status }) => status === 429)
    for (const each of refused) {
      const { limit, remaining, retryAfter } = rateHeaders(each)
      assert.deepEqual([limit, remaining, retryAfter], ['3', '0', '1'])
      assert.equal(each.headers.get('content-type'), 'application/problem+json')
    }
    return [called.filter(({ status }) => status === 200).length, refused.length]
  }
  using time = takeTime()
  const clients = [acme, acme, borealis, borealis, borealis]
  assert.deepEqual(await burst(clients.map((client) => post(client, '192.0.2.1'))), [3, 2])
  await time.advance(1000)
  const addresses = ['192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5']
  assert.deepEqual(await burst(addresses.map((address) => post(acme, address))), [3, 1])
})

const rateHeaders = ({ headers }: Called) => ({
  limit: headers.get('ratelimit-limit'),
  remaining: headers.get('ratelimit-remaining'),
  reset: headers.get('ratelimit-reset'),
  retryAfter: headers.get('retry-after'),
})

/** One client sends one request more than a second allows. */
async function exceedLimit(): Promise<{ served: Called[]; refused: Called }> {
  const called = await Promise.all(Array.from({ length: perSecond + 1 }, () => limited.call(path)))
  const refused = called.find(({ status }) => status !== 200)
  assert.ok(refused !== undefined, 'no request was refused')
  return { served: called.filter(({ status }) => status === 200), refused }
}

test('serves the configured requests per second and client, refuses the next with 429, and serves again after Retry-After', async () => {
  await Promise.all([limited.tokenOf(acme), limited.tokenOf(borealis)])
  using time = takeTime()
  const { served, refused } = await exceedLimit()
  assert.deepEqual(
    served.map((called) => rateHeaders(called).remaining).toSorted(),
    Array.from({ length: perSecond }, (_, left) => String(left)),
  )
  assert.ok(served.every((called) => rateHeaders(called).limit === String(perSecond)))
  assert.deepEqual(rateHeaders(refused), {
    limit: String(perSecond),
    remaining: '0',
    reset: '1',
    retryAfter: '1',
  })
  assertProblem(refused, {
    status: 429,
    detail: 'too many requests; wait for the seconds that Retry-After names',
    instance: '/v2/transfer/fiat-accounts',
    headers: { 'retry-after': '1' },
  })

  const another = await limited.call(path, { as: borealis })
  assert.equal(another.status, 200, 'each client has its own limit')
  const stranger = await limited.call(path, { as: null })
  assert.equal(stranger.status, 401)
  assert.equal((await limited.call('/healthz', { as: null })).status, 200)

  await time.advance(Number(rateHeaders(refused).retryAfter) * 1000 - 1)
  assert.equal((await limited.call(path)).status, 429)
  await time.advance(1)
  assert.equal((await limited.call(path)).status, 200)
})

test('is off by default', async () => {
  const called = await Promise.all(Array.from({ length: 50 }, () => free.call(path)))
  assert.ok(called.every(({ status }) => status === 200))
  const [first] = called
  assert.ok(first !== undefined)
  assert.deepEqual(rateHeaders(first), {
    limit: null,
    remaining: null,
    reset: null,
    retryAfter: null,
  })
})

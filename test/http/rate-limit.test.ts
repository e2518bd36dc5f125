import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import {
  acme,
  borealis,
  type Called,
  startTestService,
  type TestService,
} from '../support/harness.ts'
import { assertProblem } from '../support/assert-answer.ts'

const perSecond = 4
const path = '/v2/transfer/fiat-accounts?limit=1'

let limited: TestService
let free: TestService

before(async () => {
  limited = await startTestService({
    env: { BURSAR_REQUESTS_PER_SECOND_MAX: String(perSecond) },
  })
  free = await startTestService()
})
after(async () => {
  await limited.stop()
  await free.stop()
})

const rateHeaders = ({ headers }: Called) => ({
  limit: headers.get('ratelimit-limit'),
  remaining: headers.get('ratelimit-remaining'),
  reset: headers.get('ratelimit-reset'),
  retryAfter: headers.get('retry-after'),
})

/** One client uses up its second, and one request more. */
async function overdo(): Promise<{ taken: Called[]; refused: Called }> {
  await Promise.all([limited.tokenOf(acme), limited.tokenOf(borealis)])
  const called = await Promise.all(Array.from({ length: perSecond + 1 }, () => limited.call(path)))
  const refused = called.find(({ status }) => status !== 200)
  assert.ok(refused !== undefined, 'nothing was refused')
  return { taken: called.filter(({ status }) => status === 200), refused }
}

test('takes as many requests of a client in a second as are configured, refuses one more, and takes it again after Retry-After', async () => {
  const { taken, refused } = await overdo()
  assert.deepEqual(
    taken.map((called) => rateHeaders(called).remaining).toSorted(),
    Array.from({ length: perSecond }, (_, left) => String(left)),
  )
  assert.ok(taken.every((called) => rateHeaders(called).limit === String(perSecond)))
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
  })

  const another = await limited.call(path, { as: borealis })
  assert.equal(another.status, 200, 'another client is held to the first one’s requests')
  const stranger = await limited.call(path, { as: null })
  assert.equal(stranger.status, 401)
  assert.equal((await limited.call('/healthz', { as: null })).status, 200)

  await passing(Number(rateHeaders(refused).retryAfter) * 1000)
  assert.equal((await limited.call(path)).status, 200)
})

test('is off unless it is configured', async () => {
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

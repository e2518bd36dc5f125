import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMovableClock } from '@bursar/base'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, fetchToken } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/until.ts'

/** The clock of the machine jumps while the service runs. */

const hour = 3_600_000_000n
const page = '/v2/transfer/fiat-accounts?limit=5'
const clock = openMovableClock()
const service = describeService({ control: clock })

const newToken = () => fetchToken(service.url, acme)
const statusOf = async (token: string) => (await service.call(page, { token })).status

test('a clock jumps an hour ahead and two days back: tokens follow it, ages do not', async () => {
  const revoke = async (token: string) => {
    const body = `token=${token}&client_id=${acme.clientId}&client_secret=${acme.clientSecret}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const options = { as: null, method: 'POST', headers, body }
    assert.equal((await service.call('/oauth2/revoke', options)).status, 200)
  }
  const { items } = (await service.call(page)).body
  /** At once, because a jump changes no age: what is known is as fresh as before. */
  const jumpTo = async (micros: bigint) => {
    clock.setOffset(micros)
    assert.equal((await service.call('/readyz', { as: null })).status, 200)
    const served = await service.call(page, { token: await newToken() })
    assert.deepEqual([served.status, served.body.items], [200, items])
  }
  const [before, revoked] = [await newToken(), await newToken()]
  for (const token of [before, revoked]) assert.equal(await statusOf(token), 200)
  await revoke(revoked)

  await jumpTo(hour)
  assert.equal(await statusOf(before), 401, 'it has expired by this clock')
  const ahead = await newToken()
  // By this clock the other refusal has ended, and this one must not delete it.
  await revoke(ahead)
  await until(async () => (await statusOf(ahead)) === 401)

  await jumpTo(-48n * hour)
  for (const token of [before, revoked, ahead]) {
    assert.equal(await statusOf(token), 401, 'it is from the future by this clock')
  }

  await jumpTo(0n)
  assert.equal(await statusOf(before), 200)
  // The next look at the store reads each refusal again.
  for (const token of [revoked, ahead]) await until(async () => (await statusOf(token)) === 401)
})

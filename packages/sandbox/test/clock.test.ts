import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertProblem } from '../../../test/support/assert-answer.ts'
import { fetchToken } from '../../../test/support/harness.ts'
import { withdrawal } from '../../../test/support/operation-calls.ts'
import { describeSandbox, expiredAnswer } from '../../../test/support/sandbox-control.ts'
import { hourMs, systemMs } from '../../../test/support/until.ts'
import type { SampleCustomer } from '../src/sample-records.ts'

const accounts = '/v2/transfer/fiat-accounts'
const clock = '/sandbox/clock'
let as: SampleCustomer
const sandbox = describeSandbox({ env: { BURSAR_FEE_QUOTES_OPEN_MAX: '1' } }, async () => {
  as = await sandbox.customer()
})

const move = (body: object) => sandbox.control('POST', clock, body)
const quote = (token: string) =>
  sandbox.call('/v2/transfer/fees/crypto-withdrawal', {
    token,
    method: 'POST',
    body: JSON.stringify(withdrawal),
  })

describe('POST /sandbox/clock', () => {
  test('goes on from the given time, and back to the time of the machine', async () => {
    const moved = await move({ now: '2031-05-06T07:08:09Z' })
    assert.equal(moved.status, 200)
    assert.equal(moved.body.is_real, false)
    const aheadMs = () => Date.parse(moved.body.now) - Date.parse('2031-05-06T07:08:09Z')
    assert.ok(aheadMs() >= 0 && aheadMs() < hourMs)
    const later = await sandbox.control('GET', clock)
    assert.ok(Date.parse(later.body.now) >= Date.parse(moved.body.now))
    const real = await move({ real: true })
    assert.equal(real.body.is_real, true)
    assert.ok(Math.abs(Date.parse(real.body.now) - systemMs()) < hourMs)
  })

  test('leaves a token revoked that had expired in between', async () => {
    const { clientId, clientSecret } = as
    const revoke = (token: string) =>
      fetch(`${sandbox.url}/oauth2/revoke`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
        body: new URLSearchParams({ token }),
      })
    const token = await fetchToken(sandbox.url, as)
    await revoke(token)
    assert.equal((await sandbox.call(accounts, { token })).status, 401)
    await move({ advance_seconds: 3600 })
    // A store deletes expired refusals whenever it adds one.
    await revoke(await fetchToken(sandbox.url, as))
    await move({ real: true })
    assert.equal((await sandbox.call(accounts, { token })).status, 401)
  })

  test('lets tokens expire, and new ones work at once at any time', async () => {
    const token = await fetchToken(sandbox.url, as)
    assert.equal((await sandbox.call(accounts, { token })).status, 200)
    await move({ advance_seconds: 3600 })
    assertProblem(await sandbox.call(accounts, { token }), expiredAnswer(accounts))
    for (const now of ['2000-01-01T00:00:00Z', '2099-12-31T00:00:00Z']) {
      await move({ now })
      const here = await fetchToken(sandbox.url, as)
      assert.equal((await sandbox.call(accounts, { token: here })).status, 200, now)
      assert.equal((await sandbox.call('/readyz', { as: null })).status, 200, now)
    }
    await move({ real: true })
    assert.equal((await sandbox.call(accounts, { token })).status, 200)
  })

  test('lets fees expire, and the sweep takes no move for a defect of the clock', async () => {
    const first = await quote(await fetchToken(sandbox.url, as))
    assert.equal(first.status, 200)
    assert.equal((await quote(await fetchToken(sandbox.url, as))).status, 429)
    const request = {
      id: first.body.id,
      customerId: as.customerId,
      asset: withdrawal.asset,
      network: withdrawal.crypto_network,
      address: withdrawal.destination_address,
      amount: withdrawal.amount,
      withdrawal: 'w-1',
    }
    const { consume, sweep } = sandbox.parts.quotes.operator
    await move({ advance_seconds: 901 })
    assert.equal((await consume(request)).outcome, 'expired')
    assert.equal((await quote(await fetchToken(sandbox.url, as))).status, 200)
    assert.deepEqual(await sweep(500), { outcome: 'swept', deleted: 0 })
    await move({ advance_seconds: 100 * 86_400 })
    assert.deepEqual(await sweep(500), { outcome: 'swept', deleted: 2 })
    await move({ real: true })
    assert.deepEqual(await sweep(500), { outcome: 'swept', deleted: 0 })
  })

  test('names what is wrong with a move, and stays where it is', async () => {
    const cases: readonly (readonly [object, string, string])[] = [
      [{}, 'body', 'body must have one of now, advance_seconds, real'],
      [{ now: 'noon' }, 'now', 'now must be an RFC 3339 date-time such as 2026-01-31T09:30:00Z'],
      [{ now: '1999-12-31T23:59:59Z' }, 'now', 'now must give a time from 2000 to 2099'],
      [{ advance_seconds: 1.5 }, 'advance_seconds', 'advance_seconds must be a whole number'],
      [
        { advance_seconds: -1 },
        'advance_seconds',
        'advance_seconds must be between 1 and 315360000',
      ],
      [{ real: false }, 'real', 'real must be true'],
      [{ advance_seconds: 1, real: true }, 'real', 'real must not be set beside advance_seconds'],
    ]
    for (const [body, parameter, detail] of cases) {
      const called = await move(body)
      assert.deepEqual([called.status, called.body.detail], [400, detail])
      assert.equal(called.body.meta.errors[0].parameter, parameter)
    }
    assert.equal((await sandbox.control('GET', clock)).body.is_real, true)
  })
})

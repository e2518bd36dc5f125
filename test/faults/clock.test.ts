import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLog, systemTime } from '@bursar/base'
import { customerScopes } from '@bursar/contract'
import { startService } from '@bursar/server'
import { freePort } from '../support/free-port.ts'
import { configOf } from '../support/harness.ts'
import { untilHolds } from '../support/until.ts'
import { disable, revoke } from './support/acts.ts'
import { askServer } from './support/ask-server.ts'
import { send, statusOf } from './support/client.ts'
import { askForToken, openCluster, tokenOf } from './support/cluster.ts'
import { pageOf } from './support/ledger.ts'

/** The clock of one process is wrong for a while. The other clocks are right. */

const HOUR = 3600n * 1_000_000n

test('a clock jumps an hour ahead and two days back: tokens follow it, pages and standbys do not', async (t) => {
  const cluster = await openCluster({ standbys: ['one'], servers: 1 })
  t.after(() => cluster.close())
  let jump = 0n
  const port = String(await freePort())
  const service = await startService({
    config: configOf({ ...cluster.env, PORT: port }),
    log: openLog('silent'),
    clock: () => systemTime.now() + jump,
  })
  t.after(() => service.close())
  const [right = ''] = cluster.urls
  const jumping = `http://127.0.0.1:${port}`
  const read = async (url: string, token: string) =>
    await send(url, '/v2/transfer/fiat-accounts?limit=5', { token })
  const isGood = async (url: string, token: string) => statusOf(await read(url, token)) === 200
  /** At once, because a jump changes no age: what is known is as fresh as before. */
  const assertReady = async () => assert.equal(statusOf(await send(jumping, '/readyz')), 200)
  const readOnStandby = () =>
    untilHolds('the standby is read from', async () => {
      const [one] = cluster.standbys
      assert.ok(one)
      const [[now] = []] = await askServer(one, 'select clock_timestamp()::text')
      await assertPage(await tokenOf(jumping, 'ash'))
      const [[count] = []] = await askServer(one, readsSince(now))
      return Number(count) > 0
    })
  const assertPage = async (token: string) => {
    const answer = await read(jumping, token)
    assert.equal(statusOf(answer), 200)
    const items = answer.kind === 'answered' ? JSON.parse(answer.text).items : undefined
    assert.deepEqual(items, pageOf('ash', 1, undefined, 5).items)
  }

  await cluster.addClient('witness', 'ash', customerScopes)
  await untilHolds(
    'the client is known',
    async () => statusOf(await askForToken(right, 'witness')) === 200,
  )
  const witness = await tokenOf(right, 'witness')
  const before = await tokenOf(right, 'ash')
  const revoked = await tokenOf(right, 'ash')
  assert.ok((await isGood(jumping, before)) && (await isGood(jumping, revoked)))

  jump = HOUR
  await assertReady()
  assert.equal(statusOf(await read(jumping, before)), 401, 'it has expired by this clock')
  const ahead = await tokenOf(jumping, 'ash')
  assert.equal(statusOf(await read(right, ahead)), 401, 'it is from the future by the right clock')
  await readOnStandby()
  // By this clock every refusal has expired. A change made here must not delete a refusal that the
  // other process still needs.
  assert.equal(statusOf(await revoke(right, 'ash', revoked)), 200)
  assert.equal(statusOf(await revoke(jumping, 'ash', ahead)), 200)
  // The other process reads all changes in their order, so with the last one it knows the others.
  assert.ok(await disable(cluster, 'witness'))
  await untilHolds('the changes are known', async () => !(await isGood(right, witness)))

  jump = 0n
  await assertReady()
  await untilHolds('the revoked token is refused', async () => !(await isGood(jumping, revoked)))
  assert.ok(!(await isGood(right, revoked)), 'the process that was ahead has undone a revocation')
  assert.ok(await isGood(jumping, before))

  jump = -48n * HOUR
  await assertReady()
  assert.equal(statusOf(await read(jumping, before)), 401, 'it is from the future by this clock')
  assert.equal(statusOf(await read(jumping, revoked)), 401)
  await readOnStandby()
  assert.ok(await isGood(right, before))

  jump = 0n
  await assertReady()
  await untilHolds('its refusals are read again', async () => !(await isGood(jumping, revoked)))
  assert.ok(await isGood(jumping, before))
})

/** The sessions with a read since a time, by the clock of the standby. */
const readsSince = (at: string | null | undefined) =>
  `select count(*) from pg_stat_activity where usename = 'bursar'
   and query like '%set_config(''bursar.customer_id''%' and query_start > '${at}'`

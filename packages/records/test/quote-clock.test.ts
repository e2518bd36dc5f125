import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, openLog, systemTime } from '@bursar/base'
import { startService } from '@bursar/server'
import { createStore, openServiceStores } from '@bursar/server/stores'
import { pino } from 'pino'
import { callUrl, configOf, openPlace } from '../../../test/support/harness.ts'
import { testStore } from '../../../test/support/test-database.ts'
import { untilHolds } from '../../../test/support/until.ts'
import { acme, aQuote, aWithdrawal, idOf } from './support/quotes.ts'

/**
 * The clock of a server is wrong for a while. The other server and the database are right, on
 * PostgreSQL; the embedded store has one server.
 */

const ahead: Clock = () => systemTime.now() + 100n * 86_400_000_000n

test('a server 100 days ahead deletes no quote and locks no client out', async (t) => {
  const place = await openPlace()
  t.after(place.remove)
  const config = configOf({ ...place.env, BURSAR_PUBLIC_URL: 'http://127.0.0.1:9' })
  const silent = openLog('silent')
  await createStore({ config, clock: systemTime.now, log: silent })
  if (testStore === 'postgres') {
    const right = await startService({ config, clock: systemTime.now, log: silent })
    t.after(() => right.close())
  }
  const stores = await openServiceStores({ config, clock: systemTime.now, log: silent }, 'beside')
  t.after(stores.close)
  const quotes = stores.quotes()
  for (const at of [1, 2]) {
    await quotes.customers.issue(acme, aQuote({ id: idOf(at) }), 3)
  }
  await quotes.operator.consume(aWithdrawal({ id: idOf(2) }))

  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const withPort = configOf({
    ...place.env,
    BURSAR_PUBLIC_URL: 'http://127.0.0.1:9',
    BURSAR_OPERATOR_PORT: '0',
  })
  const wrong = await startService({ config: withPort, clock: ahead, log })
  const wrongStores = await openServiceStores({ config, clock: ahead, log: silent }, 'beside')
  await wrongStores.quotes().customers.issue(acme, aQuote({ id: idOf(3) }), 3)
  await untilHolds('the wrong server has swept the quotes', async () => {
    const { jobs } = (await callUrl(`${wrong.operatorUrl}/readyz`, {})).body
    assert.ok(Array.isArray(jobs))
    return jobs.find(({ name }) => name === 'sweep-fee-quotes').status === 'ok'
  })
  await wrongStores.close()
  await wrong.close()

  for (const at of [1, 2, 3]) assert.ok(await quotes.operator.find(idOf(at)), `quote ${at}`)
  const warnings = lines.filter(({ msg }) => /has jumped/.test(String(msg)))
  assert.equal(warnings.length, testStore === 'sqlite' ? 1 : 0)
  const issue = async (at: number) =>
    await quotes.customers.issue(acme, aQuote({ id: idOf(at) }), 3)
  // The quote of the wrong server counts only where the database gave it the right time.
  const counted = testStore === 'sqlite' ? 1 : 2
  for (let at = 4; at < 4 + 3 - counted; at += 1) assert.equal((await issue(at)).outcome, 'stored')
  const full = await issue(9)
  assert.equal(full.outcome, 'too-many-open')
  assert.ok('at' in full && full.nextExpiryAt - full.at <= 600_000_000n)
  const consumed = await quotes.operator.consume(aWithdrawal({ id: idOf(1) }))
  assert.equal(consumed.outcome, 'consumed')
})

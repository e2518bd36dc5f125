import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { startPostgres } from '../../../test/support/postgres-server.ts'
import { newStorePlace, openTestServers, operatorUrl } from '../../../test/support/store-place.ts'
import { until } from '../../../test/support/until.ts'
import { askAt, onPostgres, prepareOwn } from '../../records/test/support/postgres-world.ts'
import {
  acme,
  aQuote,
  aWithdrawal,
  idOf,
  minutes,
  noon,
} from '../../records/test/support/quotes.ts'
import { openPostgresFeeQuotes } from '../src/fee-quotes.ts'

const borealis = asTenant('borealis')
const openMax = 1000

/** A store with two quotes, one of acme and one of borealis, issued in one batch. */
async function twoCustomers(context: TestContext, now?: bigint) {
  const place = await newStorePlace(context)
  if (now !== undefined) await place.setClock(now)
  const quotes = await place.openQuotes()
  await Promise.all([
    quotes.customers.issue(acme, aQuote(), openMax),
    quotes.customers.issue(borealis, aQuote({ id: idOf(2), clientId: 'client_2' }), openMax),
  ])
  return { place, quotes }
}

const asCustomer = (customer: string, sql: string) =>
  `with setting as materialized (select set_config('bursar.customer_id', '${customer}', false)) ${sql}`

onPostgres('row-level security of fee quotes', () => {
  test('shows the app only the quotes of the customer that its setting names', async (t) => {
    const { place } = await twoCustomers(t)
    const seenBy = (customer: string) =>
      askAt(place.where, asCustomer(customer, 'select customer_id from setting, bursar.fee_quote'))
    assert.deepEqual(await seenBy('acme'), [['acme']])
    assert.deepEqual(await seenBy('borealis'), [['borealis']])
    assert.deepEqual(await seenBy(''), [])
    assert.deepEqual(await askAt(place.where, 'select * from bursar.fee_quote'), [])
  })

  test('forbids the app to update or delete a quote, or to insert one for another customer', async (t) => {
    const { place } = await twoCustomers(t)
    const refused = { code: '42501' }
    for (const forbidden of [
      `update bursar.fee_quote set withdrawal = 'w', consumed_at = 1`,
      `update bursar.fee_quote set amount = '', fee = '', total = ''`,
      `update bursar.fee_quote set expires_at = 1`,
      'delete from bursar.fee_quote',
      'select * from bursar.fee_quote for update',
      'truncate bursar.fee_quote',
    ]) {
      await assert.rejects(askAt(place.where, forbidden), refused, forbidden)
    }
    const foreign = `insert into bursar.fee_quote
      select '${idOf(9)}', 'borealis', 'c', 'USDC', 'ETHEREUM', 'a', 'a', '1', '1', '2', 1, 2 from setting`
    await assert.rejects(askAt(place.where, asCustomer('acme', foreign)), refused)
    await assert.rejects(askAt(place.where, foreign.replace('from setting', '')), refused)
  })

  test('allows the operator to consume and to erase a fee, and not to change one', async (t) => {
    const { place } = await twoCustomers(t)
    const operator = operatorUrl(place.where)
    assert.equal((await askAt(operator, 'select * from bursar.fee_quote')).length, 2)
    for (const forbidden of [
      `update bursar.fee_quote set amount = '1'`,
      `update bursar.fee_quote set expires_at = 1`,
      `insert into bursar.fee_quote select * from bursar.fee_quote`,
    ]) {
      await assert.rejects(askAt(operator, forbidden), { code: '42501' }, forbidden)
    }
  })

  test('leaves no customer in the setting of a session that stored a batch', async (t) => {
    const place = await newStorePlace(t)
    const servers = await openTestServers(place.where)
    t.after(servers.close)
    const { customers } = openPostgresFeeQuotes({ customers: servers, operator: undefined })
    await customers.issue(acme, aQuote(), openMax)
    const seen = await servers.rows({ text: 'select * from bursar.fee_quote' })
    assert.equal(seen.length, 0)
  })

  test('refuses the operator’s methods if there is no operator', async (t) => {
    const place = await newStorePlace(t)
    const servers = await openTestServers(place.where)
    t.after(servers.close)
    const { operator } = openPostgresFeeQuotes({ customers: servers, operator: undefined })
    const refusal = { name: 'ConfigError', message: /OPERATOR_DATABASE_URL/ }
    await assert.rejects(operator.consume(aWithdrawal()), refusal)
    await assert.rejects(operator.find(idOf(1)), refusal)
    await assert.rejects(operator.sweep(1), refusal)
    await assert.rejects(operator.clear(), refusal)
  })
})

onPostgres('a batch of fee quotes', () => {
  test('is stored without the one quote that the database refuses', async (t) => {
    const place = await newStorePlace(t)
    const quotes = await place.openQuotes()
    await quotes.customers.issue(acme, aQuote({ id: idOf(7) }), openMax)
    const answers = await Promise.allSettled([
      quotes.customers.issue(acme, aQuote({ id: idOf(1) }), openMax),
      quotes.customers.issue(acme, aQuote({ id: idOf(2), address: 'a\0b' }), openMax),
      quotes.customers.issue(borealis, aQuote({ id: idOf(7) }), openMax),
      quotes.customers.issue(acme, aQuote({ id: idOf(3) }), 0),
      quotes.customers.issue(borealis, aQuote({ id: idOf(4) }), openMax),
    ])
    assert.deepEqual(
      answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.outcome : 'refused')),
      ['stored', 'refused', 'refused', 'too-many-open', 'stored'],
    )
    const messages = answers.flatMap(({ status, ...rest }) =>
      status === 'rejected' && 'reason' in rest ? [String(rest.reason)] : [],
    )
    for (const message of messages) {
      assert.doesNotMatch(message, /acme|a\0b/, 'an error must not quote a stored value')
    }
    const stored = await place.ask('select id, customer_id from bursar.fee_quote order by id')
    assert.deepEqual(stored, [
      [idOf(1), 'acme'],
      [idOf(4), 'borealis'],
      [idOf(7), 'acme'],
    ])
  })

  test('never exceeds the limit of a client while processes race, and does not deadlock', async (t) => {
    const place = await newStorePlace(t)
    const stores = [await place.openQuotes(), await place.openQuotes(), await place.openQuotes()]
    const clients = Array.from({ length: 8 }, (_, at) => `client_${at}`)
    let at = 0
    const issued = stores.flatMap((store, turn) =>
      Array.from({ length: 50 }, () => (turn % 2 === 0 ? clients : clients.toReversed()))
        .flat()
        .map((clientId) => {
          at += 1
          return store.customers.issue(acme, aQuote({ id: idOf(at), clientId }), 100)
        }),
    )
    const outcomes = (await Promise.all(issued)).map(({ outcome }) => outcome)
    assert.equal(outcomes.filter((outcome) => outcome === 'stored').length, 100 * clients.length)
    const perClient = await place.ask(
      'select client_id, count(*) from bursar.fee_quote group by 1 order by 1',
    )
    assert.deepEqual(
      perClient,
      clients.map((client) => [client, '100']),
    )
  })

  test('is bounded: a quote is rejected at once if too many wait', async (t) => {
    const place = await newStorePlace(t)
    const quotes = await place.openQuotes()
    const issued = Array.from({ length: limitNamed('quotesWaitingMax') }, (_, at) =>
      quotes.customers.issue(acme, aQuote({ id: idOf(at) }), Number.MAX_SAFE_INTEGER),
    )
    await assert.rejects(quotes.customers.issue(acme, aQuote({ id: idOf(99_999) }), openMax), {
      name: 'StoreUnavailable',
    })
    await Promise.all(issued)
    assert.deepEqual(await place.ask('select count(*) from bursar.fee_quote'), [
      [String(limitNamed('quotesWaitingMax'))],
    ])
  })
})

onPostgres('consumptions', () => {
  test('that race are all answered, by few sessions, and each quote goes to one', async (t) => {
    const place = await newStorePlace(t)
    const quotes = await place.openQuotes()
    const racers = 15
    const ids = Array.from({ length: 100 }, (_, at) => idOf(at))
    await Promise.all(ids.map((id) => quotes.customers.issue(acme, aQuote({ id }), openMax)))
    const stores = [quotes, await place.openQuotes(), await place.openQuotes()]
    const racing = Array.from({ length: racers }, (_, at) =>
      ids.map(async (id) => {
        const request = aWithdrawal({ id, withdrawal: `withdrawal-${at}` })
        return `${id} ${(await stores[at % stores.length]?.operator.consume(request))?.outcome}`
      }),
    )
    const answers = await Promise.all(racing.flat())
    const one = (id: string) => [`${id} consumed`, ...Array(racers - 1).fill(`${id} taken`)]
    assert.deepEqual(answers.toSorted(), ids.flatMap(one))
    const stored =
      'select count(*), count(distinct xmin::text) from bursar.fee_quote where consumed_at > 0'
    const [[consumed, commits] = []] = await place.ask(stored)
    assert.equal(consumed, '100')
    assert.ok(Number(commits) <= 6, `the ${commits} commits that consumed are shared`)
  })
})

onPostgres('a consumption', () => {
  test('does not wait for one whose quote another transaction has locked', async (t) => {
    const place = await newStorePlace(t)
    const quotes = await place.openQuotes()
    for (const at of [1, 2]) await quotes.customers.issue(acme, aQuote({ id: idOf(at) }), openMax)
    const servers = await openTestServers(operatorUrl(place.where))
    t.after(servers.close)
    const consume = (at: number) => quotes.operator.consume(aWithdrawal({ id: idOf(at) }))
    const waiting = await servers.onPrimary(async (connection) => {
      const lock = `select 1 from bursar.fee_quote where id = '${idOf(1)}' for update`
      await connection.execute(`begin; ${lock}`)
      const locked = consume(1)
      const isWaiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock'`
      await until(async () => (await place.ask(isWaiting)).length > 0)
      assert.equal((await consume(2)).outcome, 'consumed')
      await connection.execute('rollback')
      return { locked }
    })
    assert.equal((await waiting.locked).outcome, 'consumed')
  })
})

onPostgres('a sweep of old quotes', () => {
  test('skips a quote that another transaction has locked', async (t) => {
    const { place, quotes } = await twoCustomers(t, noon)
    const end = noon + minutes(10 + limitNamed('quoteKeptDays') * 24 * 60)
    await place.setClock(end)
    await place.ask(`update bursar.fee_quote_sweep set last_run_at = ${end}`)
    const sweep = async () => await quotes.operator.sweep(10)
    assert.deepEqual(await sweep(), { outcome: 'swept', deleted: 0 }, 'it has just expired')
    await place.setClock(end + 1n)
    const servers = await openTestServers(operatorUrl(place.where))
    t.after(servers.close)
    await servers.onPrimary(async (connection) => {
      await connection.execute(
        `begin; select 1 from bursar.fee_quote where id = '${idOf(1)}' for update`,
      )
      assert.deepEqual(await sweep(), { outcome: 'swept', deleted: 1 })
      await connection.execute('rollback')
    })
    assert.deepEqual(await sweep(), { outcome: 'swept', deleted: 1 })
    assert.deepEqual(await place.ask('select count(*) from bursar.fee_quote'), [['0']])
  })
})

onPostgres('while a synchronous standby does not answer', () => {
  const waiting = `from pg_stat_activity where wait_event = 'SyncRep'`

  async function withoutStandby(context: TestContext) {
    const server = await startPostgres()
    context.after(server.stop)
    const { url, ask } = await prepareOwn(server)
    const withinMs = 1000
    const [customers, operator] = [
      await openTestServers(url, { withinMs }),
      await openTestServers(operatorUrl(url), { withinMs }),
    ]
    context.after(() => Promise.all([customers.close(), operator.close()]))
    const wait = async (names: string) => {
      await ask(`alter system set synchronous_standby_names = '${names}'`)
      await ask('select pg_reload_conf()')
      await until(async () => (await ask('show synchronous_standby_names'))[0]?.[0] === names)
    }
    const isWaiting = async () => (await ask(`select 1 ${waiting}`)).length > 0
    const quotes = openPostgresFeeQuotes({ customers, operator, withinMs })
    return { quotes, ask, wait, isWaiting }
  }

  test('no quote is acknowledged, and once the standby answers it is stored once', async (t) => {
    const { quotes, ask, wait, isWaiting } = await withoutStandby(t)
    await wait('none_such')
    const late = quotes.customers.issue(acme, aQuote(), openMax)
    const gathered = until(isWaiting).then(() =>
      quotes.customers.issue(acme, aQuote({ id: idOf(2) }), openMax),
    )
    await assert.rejects(late, { name: 'StoreUnavailable' })
    await assert.rejects(gathered, { name: 'StoreUnavailable' })
    assert.equal(await quotes.operator.find(idOf(1)), undefined)
    await wait('')
    await until(async () => !(await isWaiting()))
    await until(async () => (await ask('select count(*) from bursar.fee_quote'))[0]?.[0] !== '0')
    assert.deepEqual(await ask(`select count(*) from bursar.fee_quote where id = '${idOf(1)}'`), [
      ['1'],
    ])
    assert.equal(
      (await quotes.customers.issue(acme, aQuote({ id: idOf(3) }), openMax)).outcome,
      'stored',
    )
  })

  test('a cancelled wait for the standby is not acknowledged, nor is a repetition', async (t) => {
    const { quotes, ask, wait, isWaiting } = await withoutStandby(t)
    await quotes.customers.issue(acme, aQuote(), openMax)
    await wait('none_such')
    const cancelWait = async () => {
      await until(isWaiting)
      await ask(`select pg_cancel_backend(pid) ${waiting}`)
    }
    const issued = quotes.customers.issue(acme, aQuote({ id: idOf(2) }), openMax)
    await Promise.all([assert.rejects(issued, { name: 'StoreUnavailable' }), cancelWait()])
    const consumed = quotes.operator.consume(aWithdrawal())
    await Promise.all([assert.rejects(consumed, { name: 'StoreUnavailable' }), cancelWait()])
    assert.ok(
      (await quotes.operator.find(idOf(1)))?.consumption,
      'the primary has committed the consumption',
    )
    await assert.rejects(quotes.operator.consume(aWithdrawal()), { name: 'StoreUnavailable' })
    await wait('')
    await until(async () => !(await isWaiting()))
    const again = await quotes.operator.consume(aWithdrawal())
    assert.equal(again.outcome === 'consumed' && again.again, true)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed, openBackground } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { startRecovery } from '@bursar/oauth'
import { pino } from 'pino'
import { testStore } from '../../../test/support/test-database.ts'
import { turn } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { startQuoteSweep } from '../../server/src/works/withdrawal-fees/sweep-quotes.ts'
import type { FeeQuoteStore, Swept } from '../src/fee-quotes.ts'
import { judgeSweep, type SweepState } from '../src/quotes/quote-sweep.ts'
import { startQuoteChild } from './support/quote-child.ts'
import {
  acme,
  aQuote,
  aWithdrawal,
  idOf,
  minutes,
  noon,
  openTestQuotes,
  wallet,
} from './support/quotes.ts'

const openMax = 1000
const days = (count: number) => minutes(count * 24 * 60)

describe('consume', () => {
  test('gives the fee to the withdrawal that it was quoted for, in any spelling', async (t) => {
    const { quotes, place } = await openTestQuotes(t)
    const times = { createdAt: noon, expiresAt: noon + minutes(10) }
    const issued = await quotes.customers.issue(acme, aQuote(), openMax)
    assert.deepEqual(issued, { outcome: 'stored', ...times })
    await place.setClock(noon + minutes(1))
    const request = aWithdrawal({ amount: '0100.00', address: wallet.toLowerCase() })
    const consumed = await quotes.operator.consume(request)
    const consumption = { withdrawal: 'withdrawal-1', at: noon + minutes(1) }
    const { lifeSeconds: _, ...quoted } = aQuote()
    const quote = { ...quoted, ...times, customerId: 'acme', consumption, isErased: false }
    assert.deepEqual(consumed, { outcome: 'consumed', quote, again: false })
    assert.deepEqual(await quotes.operator.find(idOf(1)), quote)
  })

  test('repeats its answer to the same withdrawal at any time, and refuses another', async (t) => {
    const { quotes, place } = await openTestQuotes(t)
    await quotes.customers.issue(acme, aQuote(), openMax)
    await place.setClock(noon + minutes(1))
    const first = await quotes.operator.consume(aWithdrawal())
    await place.setClock(noon + days(30))
    const later = await quotes.operator.consume(aWithdrawal())
    assert.deepEqual(later, { ...first, again: true })
    const other = await quotes.operator.consume(aWithdrawal({ withdrawal: 'withdrawal-2' }))
    assert.equal(other.outcome, 'taken')
    assert.deepEqual('consumption' in other && other.consumption, {
      withdrawal: 'withdrawal-1',
      at: noon + minutes(1),
    })
  })

  test('distinguishes unknown, mismatched and expired quotes; a foreign one is unknown', async (t) => {
    const { quotes, place } = await openTestQuotes(t)
    await quotes.customers.issue(acme, aQuote(), openMax)
    const outcomeOf = async (over: Parameters<typeof aWithdrawal>[0]) => {
      const { quote: _, ...rest } = {
        quote: undefined,
        ...(await quotes.operator.consume(aWithdrawal(over))),
      }
      return rest
    }
    assert.deepEqual(await outcomeOf({ id: idOf(2) }), { outcome: 'unknown' })
    assert.deepEqual(await outcomeOf({ customerId: 'borealis' }), { outcome: 'unknown' })
    const mismatched = (...members: string[]) => ({ outcome: 'mismatched', members })
    assert.deepEqual(await outcomeOf({ asset: 'USDG' }), mismatched('asset'))
    assert.deepEqual(await outcomeOf({ network: 'BASE' }), mismatched('network'))
    assert.deepEqual(await outcomeOf({ amount: '100.000001' }), mismatched('amount'))
    assert.deepEqual(
      await outcomeOf({ address: wallet.replace('F', 'f'), amount: '1', asset: 'ETH' }),
      mismatched('asset', 'address', 'amount'),
    )
    await place.setClock(noon + minutes(10))
    assert.deepEqual(await outcomeOf({}), { outcome: 'expired' })
    await place.setClock(noon + minutes(10) - 1n)
    assert.deepEqual(await outcomeOf({}), { outcome: 'consumed', again: false })
  })

  test('refuses what was restored until the fees are reconciled, and records what was lost', async (t) => {
    const { quotes, place } = await openTestQuotes(t)
    const credentials = await place.openCredentials()
    const at = (minute: number) => noon + minutes(minute)
    const issue = async (id: number, minute: number) => {
      await place.setClock(at(minute))
      return quotes.customers.issue(acme, aQuote({ id: idOf(id) }), openMax)
    }
    const consume = async (
      id: number,
      minute: number,
      over: Parameters<typeof aWithdrawal>[0] = {},
    ) => {
      await place.setClock(at(minute))
      return quotes.operator.consume(aWithdrawal({ id: idOf(id), ...over }))
    }
    await issue(1, -20)
    for (const id of [2, 3, 4]) await issue(id, 0)
    await consume(2, 1)
    assert.deepEqual(await quotes.operator.times(), { now: at(1), newestQuote: noon })
    const restored = { restoredTo: at(2), restoredAt: at(5), quotesBefore: at(5) }
    await credentials.startRecovery(restored, at(5))
    await issue(5, 6)

    const refused = { outcome: 'unreconciled', restoredAt: at(5) }
    const open = await quotes.operator.find(idOf(3))
    assert.deepEqual(await consume(3, 7), { ...refused, quote: open })
    assert.equal((await consume(3, 99)).outcome, 'unreconciled', 'expired')
    assert.equal((await consume(3, 7, { amount: '1' })).outcome, 'mismatched')
    assert.equal((await consume(5, 7)).outcome, 'consumed', 'quoted after the restore')
    assert.deepEqual('again' in (await consume(2, 7)), true, 'consumed before the backup')

    const recovery = await credentials.readRecovery()
    assert.deepEqual(recovery, {
      ...restored,
      clientsConfirmedAt: undefined,
      erasuresRepeatedAt: undefined,
      reconciledAt: undefined,
    })
    assert.ok(recovery !== undefined)
    const uncertain = await quotes.operator.uncertain(recovery, 10)
    assert.deepEqual(
      uncertain.map(({ id }) => id),
      [idOf(3), idOf(4)],
    )
    for (const [id, consumedAt] of [
      [3, at(6)],
      [3, at(-1)],
      [5, at(3)],
      [1, at(3)],
    ] as const) {
      const wrong = { consumedAt, withdrawal: 'withdrawal-9' }
      const { outcome } = await consume(id, 7, wrong)
      const expected = id === 5 ? 'taken' : id === 1 ? 'expired' : 'not-restored'
      assert.equal(outcome, expected, `${id} at ${consumedAt}`)
    }
    const recorded = await consume(3, 99, { consumedAt: at(3) })
    const consumption = { withdrawal: 'withdrawal-1', at: at(3) }
    assert.deepEqual(recorded, {
      outcome: 'consumed',
      quote: { ...open, consumption },
      again: false,
    })
    assert.equal((await consume(3, 99, { withdrawal: 'withdrawal-2' })).outcome, 'taken')

    await credentials.endRecovery(at(8))
    assert.equal((await consume(4, 9)).outcome, 'consumed')
    assert.equal((await consume(1, 9)).outcome, 'expired')
  })

  test('gives the fee to one of two processes that race for it', async (t) => {
    const { quotes, place } = await openTestQuotes(t)
    const children = [startQuoteChild(place.where), startQuoteChild(place.where)]
    t.after(() => Promise.all(children.map((child) => child.kill())))
    for (let round = 1; round <= 50; round += 1) {
      await quotes.customers.issue(acme, aQuote({ id: idOf(round) }), openMax)
      const answers = await Promise.all(
        children.flatMap((child, at) =>
          [1, 2].map((turn) =>
            child.send({
              at: noon,
              consume: aWithdrawal({ id: idOf(round), withdrawal: `of-${at}-${turn}` }),
            }),
          ),
        ),
      )
      const outcomes = answers.map((answer) => answer?.outcome).toSorted()
      assert.deepEqual(outcomes, ['consumed', 'taken', 'taken', 'taken'], `round ${round}`)
    }
  })
})

describe('open quotes', () => {
  test('are limited for each client, across processes, until consumed or expired', async (t) => {
    const { quotes, place } = await openTestQuotes(t)
    const other = await place.openQuotes()
    let at = 0
    const issue = async (store = quotes, now = noon, clientId = 'client_1') => {
      at += 1
      await place.setClock(now)
      const issued = await store.customers.issue(acme, aQuote({ id: idOf(at), clientId }), 3)
      return issued.outcome === 'stored' ? 'stored' : issued
    }
    const full = (nextExpiryAt: bigint, now: bigint) => {
      return { outcome: 'too-many-open', nextExpiryAt, at: now }
    }
    assert.equal(await issue(), 'stored')
    assert.equal(await issue(other, noon + minutes(1)), 'stored')
    assert.equal(await issue(quotes, noon + minutes(2)), 'stored')
    const third = noon + minutes(3)
    assert.deepEqual(await issue(other, third), full(noon + minutes(10), third))
    assert.equal(await issue(quotes, third, 'client_2'), 'stored')
    await quotes.operator.consume(aWithdrawal({ id: idOf(2) }))
    await quotes.operator.consume(aWithdrawal({ id: idOf(2) }))
    assert.equal(await issue(quotes, noon + minutes(4)), 'stored', 'the consumed one makes room')
    const fifth = noon + minutes(5)
    assert.deepEqual(await issue(quotes, fifth), full(noon + minutes(10), fifth))
    const tenth = noon + minutes(10)
    assert.equal(await issue(other, tenth), 'stored', 'the first has expired')
    assert.deepEqual(await issue(quotes, tenth), full(noon + minutes(12), tenth))
    assert.equal(await issue(quotes, noon + days(100)), 'stored', 'all have expired')
  })

  test('do not include those of a clock that was ahead, which keep the time they were given', async (t) => {
    const { quotes, place } = await openTestQuotes(t)
    const issue = (at: number) => quotes.customers.issue(acme, aQuote({ id: idOf(at) }), 2)
    const ahead = noon + minutes(120)
    await place.setClock(ahead)
    assert.deepEqual([(await issue(1)).outcome, (await issue(2)).outcome], ['stored', 'stored'])
    await place.setClock(noon)
    const nextExpiryAt = noon + minutes(10)
    assert.equal((await issue(3)).outcome, 'stored')
    assert.equal((await issue(4)).outcome, 'stored')
    assert.deepEqual(await issue(5), { outcome: 'too-many-open', nextExpiryAt, at: noon })
    const consumed = await quotes.operator.consume(aWithdrawal({ id: idOf(1) }))
    assert.equal(consumed.outcome, 'consumed', 'the customer was told a time that has not come')
    await place.setClock(ahead + minutes(10))
    const late = await quotes.operator.consume(aWithdrawal({ id: idOf(2) }))
    assert.equal(late.outcome, 'expired')
  })
})

test('quotes of one turn of the event loop share one commit', async (t) => {
  const { quotes, place } = await openTestQuotes(t)
  const reader = await place.openQuotes()
  const issued = [1, 2, 3].map((at) =>
    quotes.customers.issue(asTenant('acme'), aQuote({ id: idOf(at) }), openMax),
  )
  // SQLite reads at once, before the commit. A read over a socket may come after it.
  if (testStore === 'sqlite') {
    assert.equal(await reader.operator.find(idOf(1)), undefined, 'nothing is written at once')
  }
  await issued[0]
  assert.ok(await reader.operator.find(idOf(3)), 'the last quote is stored with the first')
  if (testStore === 'postgres') {
    const writers = await place.ask(
      'select count(*), count(distinct xmin::text) from bursar.fee_quote',
    )
    assert.deepEqual(writers, [['3', '1']], 'one transaction wrote all three')
  }
})

test('consumptions of one turn of the event loop share one commit', async (t) => {
  const { quotes, place } = await openTestQuotes(t)
  const reader = await place.openQuotes()
  const ids = [1, 2, 3].map(idOf)
  await Promise.all(ids.map((id) => quotes.customers.issue(acme, aQuote({ id }), openMax)))
  const consumed = ids.map((id) => quotes.operator.consume(aWithdrawal({ id })))
  await consumed[0]
  const last = await reader.operator.find(idOf(3))
  assert.ok(last?.consumption, 'the last is consumed with the first')
  if (testStore === 'postgres') {
    const writers = await place.ask('select count(distinct xmin::text) from bursar.fee_quote')
    assert.deepEqual(writers, [['1']], 'one transaction consumed all three')
  }
  assert.deepEqual(
    (await Promise.all(consumed)).map(({ outcome }) => outcome),
    ['consumed', 'consumed', 'consumed'],
  )
})

describe('a sweep', () => {
  const issueAt = async (
    { quotes, place }: Awaited<ReturnType<typeof openTestQuotes>>,
    now: bigint,
    from: number,
    quote: Parameters<typeof aQuote>[0] & { readonly count?: number } = {},
  ) => {
    await place.setClock(now)
    const { count = 1, ...over } = quote
    const ids = Array.from({ length: count }, (_, at) => idOf(from + at))
    await Promise.all(
      ids.map((id) =>
        quotes.customers.issue(acme, aQuote({ id, ...over }), Number.MAX_SAFE_INTEGER),
      ),
    )
  }
  const swept = (deleted: number) => ({ outcome: 'swept', deleted }) as const
  const keptDays = limitNamed('quoteKeptDays')
  const rows = limitNamed('quoteSweepRows')

  test('deletes quotes that expired 90 days ago, in small batches', async (t) => {
    const opened = await openTestQuotes(t)
    const { quotes, place } = opened
    const old = rows * 2 + 5
    const end = noon - days(keptDays)
    await place.setClock(noon)
    assert.deepEqual(await quotes.operator.sweep(rows), swept(0))
    await issueAt(opened, end - minutes(10) - 1_000_000n, 0, { count: old })
    await issueAt(opened, end - minutes(10), old)
    // Issued long ago, but still open.
    await issueAt(opened, end - minutes(10), old + 1, { lifeSeconds: 91 * 86_400 })
    await issueAt(opened, noon, old + 2)
    await place.setClock(noon)
    for (const deleted of [rows, rows, 5, 0]) {
      assert.deepEqual(await quotes.operator.sweep(rows), swept(deleted))
    }
    const found = async (at: number) => (await quotes.operator.find(idOf(at))) !== undefined
    assert.deepEqual([await found(0), await found(old - 1)], [false, false])
    assert.deepEqual([await found(old), await found(old + 1)], [true, true])
  })

  test('rests for a moment between full batches, else for a minute, and logs each run', async () => {
    using time = takeTime()
    const running = startSweep([swept(rows), swept(rows), swept(5), swept(0), swept(1)])
    const rest = limitNamed('quoteSweepRestMs')
    const idle = limitNamed('quoteSweepIdleMs')
    for (const [at, pauseMs] of [rest, rest, rest, idle, idle].entries()) {
      await time.advance(pauseMs - 1)
      assert.equal(running.sweeps(), at)
      await time.advance(1)
      assert.equal(running.sweeps(), at + 1)
    }
    const msg = 'deleted old fee quotes'
    const logged = [rows * 2 + 5, 1].map((deleted) => ({ level: 30, deleted, msg }))
    assert.deepEqual(running.logged, logged)
    running.stop()
    assert.equal(time.waiting(), 0)
  })

  test('refuses a clock that has jumped, and goes on once it is right', async (t) => {
    const opened = await openTestQuotes(t)
    const { quotes, place } = opened
    await issueAt(opened, noon, 1, { count: 3 })
    await quotes.operator.consume(aWithdrawal({ id: idOf(2) }))
    // The clock of the server that issued it was ahead already.
    await issueAt(opened, noon + days(100), 4)
    const other = await place.openQuotes()
    // The oldest quote stands for the last run, if there was none.
    for (const lastRunAt of [noon, noon + minutes(1)]) {
      for (const jump of [days(100), -days(2)]) {
        const at = noon + jump
        await place.setClock(at)
        const refused = { outcome: 'refused', lastRunAt, at }
        assert.deepEqual(await other.operator.sweep(rows), refused, `a jump of ${jump}`)
      }
      await place.setClock(noon + minutes(1))
      assert.deepEqual(await quotes.operator.sweep(rows), swept(0))
    }
    for (const at of [1, 2, 3]) assert.ok(await quotes.operator.find(idOf(at)), `quote ${at}`)
  })

  test('that is refused warns once an hour', async () => {
    using time = takeTime()
    const refused = {
      outcome: 'refused',
      lastRunAt: noon + minutes(1),
      at: noon + days(100),
    } as const
    const running = startSweep(Array.from({ length: 61 }, () => refused))
    const warning = {
      level: 40,
      storeTime: '2027-03-02T12:00:00Z',
      lastRunAt: '2026-11-22T12:01:00Z',
      msg: 'the clock of the store has jumped, or the store was not in use for more than a day, so no old fee quote is deleted; set the clock right, or wait 7 days if it is right',
    }
    await time.advance(limitNamed('quoteSweepRestMs'))
    await time.advance(3_600_000 - 1)
    assert.deepEqual(running.logged, [warning])
    await time.advance(1)
    assert.deepEqual(running.logged, [warning, warning])
    running.stop()
  })

  test('goes on at once after a restore, which is dated by the clock of the store', async (t) => {
    const opened = await openTestQuotes(t)
    const { quotes, place } = opened
    const credentials = await place.openCredentials()
    await issueAt(opened, noon, 1, { count: 3 })
    assert.deepEqual(await quotes.operator.sweep(rows), swept(0))
    const now = noon + days(100)
    await place.setClock(now)
    assert.equal((await quotes.operator.sweep(rows)).outcome, 'refused')
    await startRecovery({ store: credentials, quotes: quotes.operator }, noon)
    const { restoredAt, quotesBefore } = (await credentials.readRecovery()) ?? {}
    assert.deepEqual([restoredAt, quotesBefore], [now, now])
    assert.deepEqual(await quotes.operator.sweep(rows), swept(3))
  })

  test('that fails once the stores close says nothing', async () => {
    using time = takeTime()
    const failed = Promise.withResolvers<never>()
    const running = startSweep([failed.promise])
    await time.advance(limitNamed('quoteSweepRestMs'))
    running.stop()
    failed.reject(new Error('the store is closed'))
    await turn()
    assert.deepEqual([running.sweeps(), running.logged], [1, []])
  })

  test('believes a clock that was steady for a week, also if the process restarts', () => {
    const hour = minutes(60)
    const first = { lastRunAt: noon, deleted: 7, refusedAt: undefined, steadyFor: 0n }
    const look = (state: SweepState, now: bigint) => judgeSweep(state, now)
    let now = noon + days(100)
    let judged = look(first, now)
    let looks = 0
    while (judged.isRefused) {
      assert.equal(judged.rowsMax, 0)
      looks += 1
      // Each day the process stops for eight hours, which do not count.
      now += looks % (16 * 60) === 0 ? 8n * hour : minutes(1)
      judged = look(judged.state, now)
    }
    assert.equal(
      looks - Math.floor(looks / (16 * 60)),
      limitNamed('quoteSweepSteadyDays') * 24 * 60,
    )
    const { rowsMax, state } = judged
    assert.equal(rowsMax, limitNamed('quoteSweepRunRows'))
    assert.deepEqual(state, { ...first, lastRunAt: now, deleted: 0 })
    const jumped = look({ ...first, refusedAt: noon - days(50), steadyFor: days(6) }, now)
    assert.equal(jumped.state.steadyFor, 0n, 'another jump starts again')
    const looked = { ...first, lastRunAt: noon - days(100), refusedAt: noon, steadyFor: hour }
    const pauseMax = minutes(limitNamed('quoteSweepLookMinutes'))
    const steadyAfter = (pause: bigint) => look(looked, noon + pause).state.steadyFor
    assert.equal(steadyAfter(pauseMax), hour + pauseMax)
    assert.equal(steadyAfter(pauseMax + 1n), hour, 'a longer pause does not count')
  })

  test('deletes in one run at most what is left of it, over all processes', () => {
    const ran = { lastRunAt: noon, deleted: 9_900, refusedAt: undefined, steadyFor: 0n }
    const left = (now: bigint, deleted = ran.deleted) =>
      judgeSweep({ ...ran, deleted }, now).rowsMax
    assert.equal(left(noon + minutes(1) - 1n), limitNamed('quoteSweepRunRows') - 9_900)
    assert.equal(left(noon, limitNamed('quoteSweepRunRows') + 1), 0)
    assert.equal(left(noon + minutes(1)), limitNamed('quoteSweepRunRows'))
    assert.equal(left(noon + days(1)), limitNamed('quoteSweepRunRows'))
    assert.equal(left(noon + days(1) + 1n), 0)
  })
})

/** Starts the sweep of a store that answers so, with a log that is kept. */
function startSweep(answers: readonly (Swept | Promise<Swept>)[]) {
  const logged: unknown[] = []
  const sink = { write: (line: string) => void logged.push(JSON.parse(line)) }
  const log = pino({ base: null, timestamp: false }, sink)
  let sweeps = 0
  const sweep = async () => (await answers[sweeps++]) ?? { outcome: 'swept', deleted: 0 }
  const quotes = { operator: { sweep } } as unknown as FeeQuoteStore
  const stop = startQuoteSweep({ quotes, log, background: openBackground() })
  return { logged, sweeps: () => sweeps, stop }
}

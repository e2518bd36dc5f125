import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asTenant } from '../../src/contract/principal.ts'
import { limits } from '../../src/platform/limits.ts'
import { openLog } from '../../src/platform/log.ts'
import { systemSchedule } from '../../src/platform/schedule.ts'
import { startQuoteSweep } from '../../src/withdrawal-fees/sweep-quotes.ts'
import { testStore } from '../support/test-database.ts'
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
    const { quotes } = await openTestQuotes(t)
    await quotes.customers.issue(acme, aQuote(), openMax)
    const request = aWithdrawal({ amount: '0100.00', address: wallet.toLowerCase() })
    const consumed = await quotes.operator.consume(request)
    const consumption = { withdrawal: 'withdrawal-1', at: request.at }
    const quote = { ...aQuote(), customerId: 'acme', consumption }
    assert.deepEqual(consumed, { outcome: 'consumed', quote, again: false })
    assert.deepEqual(await quotes.operator.find(idOf(1)), quote)
  })

  test('repeats its answer to the same withdrawal at any time, and refuses another', async (t) => {
    const { quotes } = await openTestQuotes(t)
    await quotes.customers.issue(acme, aQuote(), openMax)
    const first = await quotes.operator.consume(aWithdrawal())
    const later = await quotes.operator.consume(aWithdrawal({ at: noon + days(30) }))
    assert.deepEqual(later, { ...first, again: true })
    const other = await quotes.operator.consume(aWithdrawal({ withdrawal: 'withdrawal-2' }))
    assert.equal(other.outcome, 'taken')
    assert.deepEqual('consumption' in other && other.consumption, {
      withdrawal: 'withdrawal-1',
      at: noon + minutes(1),
    })
  })

  test('distinguishes unknown, mismatched and expired quotes; a foreign one is unknown', async (t) => {
    const { quotes } = await openTestQuotes(t)
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
    const last = noon + minutes(10) - 1n
    assert.deepEqual(await outcomeOf({ at: last + 1n }), { outcome: 'expired' })
    assert.deepEqual(await outcomeOf({ at: last }), { outcome: 'consumed', again: false })
  })

  test('refuses what was restored until the fees are reconciled, and records what was lost', async (t) => {
    const { quotes, place } = await openTestQuotes(t)
    const credentials = await place.openCredentials()
    const at = (minute: number) => noon + minutes(minute)
    const issue = (id: number, minute: number) => {
      const times = { createdAt: at(minute), expiresAt: at(minute + 10) }
      return quotes.customers.issue(acme, aQuote({ id: idOf(id), ...times }), openMax)
    }
    const consume = (id: number, minute: number, over: Parameters<typeof aWithdrawal>[0] = {}) =>
      quotes.operator.consume(aWithdrawal({ id: idOf(id), at: at(minute), ...over }))
    await Promise.all([issue(1, -20), issue(2, 0), issue(3, 0), issue(4, 0)])
    await consume(2, 1)
    assert.equal(await quotes.operator.newestCreation(), noon)
    const restored = { restoredTo: at(2), restoredAt: at(5), quotesBefore: at(5) }
    await credentials.startRecovery(restored, at(5))
    await issue(5, 6)

    const refused = { outcome: 'unreconciled', restoredAt: at(5) }
    const quote = { ...aQuote({ id: idOf(3), expiresAt: at(10) }), customerId: 'acme' }
    const open = { ...quote, consumption: undefined }
    assert.deepEqual(await consume(3, 7), { ...refused, quote: open })
    assert.equal((await consume(3, 99)).outcome, 'unreconciled', 'expired')
    assert.equal((await consume(3, 7, { amount: '1' })).outcome, 'mismatched')
    assert.equal((await consume(5, 7)).outcome, 'consumed', 'quoted after the restore')
    assert.deepEqual('again' in (await consume(2, 7)), true, 'consumed before the backup')

    const recovery = await credentials.readRecovery()
    assert.deepEqual(recovery, {
      ...{ ...restored, clientsConfirmedAt: undefined, reconciledAt: undefined },
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
      quote: { ...quote, consumption },
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
    const issue = async (store = quotes, createdAt = noon, clientId = 'client_1') => {
      at += 1
      const quote = aQuote({
        id: idOf(at),
        clientId,
        createdAt,
        expiresAt: createdAt + minutes(10),
      })
      const issued = await store.customers.issue(acme, quote, 3)
      return issued.outcome === 'stored' ? 'stored' : issued
    }
    const full = (nextExpiryAt: bigint) => ({ outcome: 'too-many-open', nextExpiryAt })
    assert.equal(await issue(), 'stored')
    assert.equal(await issue(other, noon + minutes(1)), 'stored')
    assert.equal(await issue(quotes, noon + minutes(2)), 'stored')
    assert.deepEqual(await issue(other, noon + minutes(3)), full(noon + minutes(10)))
    assert.equal(await issue(quotes, noon + minutes(3), 'client_2'), 'stored')
    await quotes.operator.consume(aWithdrawal({ id: idOf(2), at: noon + minutes(3) }))
    await quotes.operator.consume(aWithdrawal({ id: idOf(2), at: noon + minutes(4) }))
    assert.equal(await issue(quotes, noon + minutes(4)), 'stored', 'the consumed one makes room')
    assert.deepEqual(await issue(quotes, noon + minutes(5)), full(noon + minutes(10)))
    assert.equal(await issue(other, noon + minutes(10)), 'stored', 'the first has expired')
    assert.deepEqual(await issue(quotes, noon + minutes(10)), full(noon + minutes(12)))
    assert.equal(await issue(quotes, noon + days(100)), 'stored', 'all have expired')
  })

  test('are counted once for each client and batch, so that many open quotes cost little', async (t) => {
    const { quotes } = await openTestQuotes(t)
    const issueMany = async (from: number) => {
      const started = performance.now()
      const ids = Array.from({ length: 2000 }, (_, at) => idOf(from + at))
      await Promise.all(
        ids.map((id) => quotes.customers.issue(acme, aQuote({ id }), Number.MAX_SAFE_INTEGER)),
      )
      return performance.now() - started
    }
    await issueMany(0)
    const few = await issueMany(2000)
    for (let from = 4000; from < 34_000; from += 2000) await issueMany(from)
    const many = await issueMany(34_000)
    t.diagnostic(
      `2000 quotes beside 2,000 open ones ${few.toFixed()} ms, beside 34,000 ${many.toFixed()} ms`,
    )
    assert.ok(many < few * 8 + 50)
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

test('a sweep deletes quotes older than 90 days, in small batches with pauses', async (t) => {
  const { quotes } = await openTestQuotes(t)
  const old = limits.quoteSweepRows * 2 + 5
  await Promise.all(
    Array.from({ length: old + 3 }, (_, at) =>
      quotes.customers.issue(
        acme,
        aQuote({ id: idOf(at), createdAt: at < old ? noon : noon + 1n }),
        Number.MAX_SAFE_INTEGER,
      ),
    ),
  )
  const rests: number[] = []
  let next: () => void = () => {}
  let isStopped = false
  const after = (delayMs: number, run: () => void) => {
    rests.push(delayMs)
    next = run
    return () => {
      isStopped = true
    }
  }
  const turn = async () => {
    const before = rests.length
    next()
    while (rests.length === before) await new Promise(setImmediate)
  }
  const clock = () => noon + days(limits.quoteKeptDays) + 1n
  const schedule = { ...systemSchedule, after }
  const stop = startQuoteSweep({ quotes, clock, log: openLog('silent'), schedule })
  for (let round = 0; round < 3; round += 1) await turn()
  const { quoteSweepRestMs: rest, quoteSweepIdleMs: idle } = limits
  assert.deepEqual(rests, [rest, rest, rest, idle])
  assert.equal(await quotes.operator.find(idOf(0)), undefined)
  assert.equal(await quotes.operator.find(idOf(old - 1)), undefined)
  assert.ok(await quotes.operator.find(idOf(old)))
  isStopped = false
  stop()
  assert.equal(isStopped, true)
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed, parseInstant } from '@bursar/base'
import { type RecordInput, type RecordKind, startOfAsset, statementOrders } from '@bursar/contract'
import fc from 'fast-check'
import { describeStore } from '../../../test/support/describe-store.ts'
import { resourceOf } from '../../../test/support/record-store.ts'
import { aDepositAddress, aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'
import { positionId } from '../src/position.ts'
import type { AcrossPage, AcrossPlace } from '../src/records/across.ts'

const tested = describeStore()

const selection = { customerId: undefined, status: undefined, order: 'DESC', limit: 3 } as const
const bounds = { from: undefined, until: undefined }
const microsOf = (text: string): bigint => parseInstant(text)?.micros ?? 0n
const now = microsOf('2026-03-01T00:00:00Z')

type Read = (after: AcrossPlace | undefined) => Promise<AcrossPage>

/** The ids of all pages, and how many records each has. */
async function walk(read: Read) {
  const [ids, sizes]: [string[], number[]] = [[], []]
  let after: AcrossPlace | undefined
  do {
    const { records, next } = await read(after)
    ids.push(...records.map(({ position }) => positionId(position)))
    sizes.push(records.length)
    after = next
  } while (after !== undefined)
  return { ids, sizes }
}

const inOrder = (kind: RecordKind, over: object = {}) =>
  walk((after) =>
    tested.store.operator
      .across(resourceOf(kind))
      .inOrder({ ...selection, ...bounds, ...over, after }),
  )

const byShortfall = (over: object = {}) =>
  walk((after) =>
    tested.store.operator.across(resourceOf('statements')).byTerm({
      ...selection,
      term: statementOrders.shortfall,
      start: startOfAsset('USDG'),
      now,
      ...over,
      after,
    }),
  )

const customers = ['acme', 'borealis', 'cobalt']
const accounts = Array.from({ length: 20 }, (_, at): RecordInput => {
  const status = ['PENDING', 'APPROVED', 'REJECTED'][at % 3]
  // Two accounts each share a time, so that a page ends between them.
  const created_at = `2026-01-${String(10 + (at >> 1))}T00:00:00Z`
  return aFiatAccount({ id: anId(at + 1), customer_id: customers[at % 3], status, created_at })
})
const idsOf = (records: readonly RecordInput[]) => records.map(({ id }) => String(id))

describe('the records of all customers', () => {
  test('are in the order of their creation, each once, in pages of any size', async () => {
    await tested.take('fiat-accounts', accounts)
    for (const limit of [1, 2, 3, 7, 20]) {
      const newest = await inOrder('fiat-accounts', { limit })
      assert.deepEqual(newest.ids, idsOf(accounts).toReversed(), String(limit))
      const oldest = await inOrder('fiat-accounts', { limit, order: 'ASC' })
      assert.deepEqual(oldest.ids, idsOf(accounts), String(limit))
    }
  })

  test('of a status, of a customer or of a time are those alone, without deleted ones', async () => {
    const deleted = { ...accounts[3], deleted_at: '2026-02-01T00:00:00Z' }
    await tested.take('fiat-accounts', accounts.with(3, deleted))
    const live = accounts.toSpliced(3, 1)
    const having = (member: string, value: string) =>
      idsOf(live.filter((account) => account[member] === value)).toReversed()
    const pending = await inOrder('fiat-accounts', { status: 'PENDING' })
    assert.deepEqual(pending.ids, having('status', 'PENDING'))
    const acme = await inOrder('fiat-accounts', { customerId: 'acme' })
    assert.deepEqual(acme.ids, having('customer_id', 'acme'))
    const none = await inOrder('fiat-accounts', { customerId: 'acme', status: 'REJECTED' })
    assert.deepEqual(none.ids, [])
    assert.deepEqual((await inOrder('fiat-accounts', { customerId: 'nobody' })).ids, [])
    const from = microsOf('2026-01-12T00:00:00Z')
    const until = microsOf('2026-01-13T00:00:00Z')
    assert.deepEqual((await inOrder('fiat-accounts', { from, until })).ids, [anId(6), anId(5)])
  })

  test('of a kind without statuses are listed too, as their customers see them', async () => {
    await tested.take('deposit-addresses', [aDepositAddress()])
    const across = tested.store.operator.across(resourceOf('deposit-addresses'))
    const { records, next } = await across.inOrder({ ...selection, ...bounds, after: undefined })
    assert.equal(next, undefined)
    assert.deepEqual(
      records.map(({ customerId, body }) => [customerId, JSON.parse(body).address]),
      [['acme', aDepositAddress().address]],
    )
  })
})

const shortBy = (id: number, owed: string, over: object = {}) =>
  aStatement({
    id: anId(id),
    customer_id: customers[id % 3],
    statement_balances: [{ asset: 'USDG', amount_paid: '0', total_amount_owed: owed }],
    ...over,
  })

describe('shortfalls', () => {
  test('are in the order of their exact amounts over all customers, each once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.bigInt(1n, 10n ** 20n), fc.nat(20)), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (amounts, limit) => {
          await tested.store.operator.clear()
          const owed = amounts.map(([units, zeros]) => ({
            units,
            text: `${units}.${'0'.repeat(zeros + 1)}`,
          }))
          await tested.take(
            'statements',
            owed.map(({ text }, at) => shortBy(at + 1, text)),
          )
          const expected = owed
            .map(({ units }, at) => ({ units, id: anId(at + 1) }))
            .toSorted((a, b) =>
              a.units === b.units ? (a.id < b.id ? 1 : -1) : a.units < b.units ? 1 : -1,
            )
            .map(({ id }) => id)
          assert.deepEqual((await byShortfall({ limit })).ids, expected)
          const ascending = await byShortfall({ limit, order: 'ASC' })
          assert.deepEqual(ascending.ids, expected.toReversed())
        },
      ),
      { numRuns: 8 },
    )
  })

  test('count where the statement is paid, or once its period has ended', async () => {
    const open = { period_end: '2026-03-01T00:00:00.000001Z' }
    const paid = { status: 'STATEMENT_STATUS_PAID', paid_at: '2026-02-02T00:00:00Z' }
    await tested.take('statements', [
      shortBy(1, '1'),
      shortBy(2, '2', open),
      shortBy(3, '3', { ...open, ...paid }),
    ])
    assert.deepEqual((await byShortfall()).ids, [anId(3), anId(1)])
    assert.deepEqual((await byShortfall({ now: now + 1n })).ids, [anId(3), anId(2), anId(1)])
    const ofStatus = await byShortfall({ status: 'STATEMENT_STATUS_PAID' })
    assert.deepEqual(ofStatus.ids, [anId(3)])
    assert.deepEqual((await byShortfall({ customerId: 'acme' })).ids, [anId(3)])
  })

  test('of one asset are not those of an asset whose name begins alike', async () => {
    const balance = { amount_paid: '0', total_amount_owed: '1' }
    await tested.take('statements', [
      shortBy(1, '1'),
      shortBy(2, '1', { statement_balances: [{ asset: 'USDG 0011', ...balance }] }),
    ])
    assert.deepEqual((await byShortfall()).ids, [anId(1)])
    assert.deepEqual((await byShortfall({ start: startOfAsset('USDG 0011') })).ids, [anId(2)])
  })

  test('behind more open periods than a page reads are on a later page', async () => {
    const open = { period_end: '2027-01-01T00:00:00Z' }
    const count = limitNamed('acrossRowsTogether') * limitNamed('acrossStepsMax')
    const many = Array.from({ length: count }, (_, at) => shortBy(at + 10, '9', open))
    await tested.take('statements', [shortBy(1, '1'), ...many])
    const { ids, sizes } = await byShortfall()
    assert.deepEqual(ids, [anId(1)])
    assert.deepEqual(sizes, [0, 1])
  })

  test('statements are listed by their creation too', async () => {
    await tested.take('statements', [
      shortBy(1, '1', { created_at: '2026-03-01T00:00:00Z' }),
      shortBy(2, '1', { period_start: '2026-01-15T00:00:00Z', created_at: '2026-02-01T00:00:00Z' }),
      shortBy(3, '0', { created_at: '2026-02-15T00:00:00Z', status: 'STATEMENT_STATUS_PAID' }),
    ])
    const created = await byShortfall({ term: statementOrders.created, start: '' })
    assert.deepEqual(created.ids, [anId(1), anId(3), anId(2)])
  })
})

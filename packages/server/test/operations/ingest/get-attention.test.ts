import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed, parseInstant } from '@bursar/base'
import { describeService } from '../../../../../test/support/describe-service.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { take } from '../../../../../test/support/record-store.ts'
import {
  aFiatAccount,
  anId,
  anIssuerQuote,
  aStatement,
  someDepositInstructions,
} from '../../../../../test/support/records.ts'

let operator: string
let bound: string
const now = parseInstant('2030-06-15T12:00:00Z')?.micros ?? 0n

const service = describeService({ clock: () => now }, async ({ parts }) => {
  await take(parts.store, 'statements', statements)
  await take(parts.store, 'fiat-accounts', accounts)
  await take(parts.store, 'issuer-quote-executions', quotes)
  await take(parts.store, 'fiat-deposit-instructions', [
    someDepositInstructions({ id: anId(1), customer_id: 'quartz', status: 'DEPRECATED' }),
    someDepositInstructions({ id: anId(2), customer_id: 'quartz', memo_id: 'MEMO000000000002' }),
  ])
  operator = await operatorToken(service, 'staff', ['ingest:search'])
  bound = await operatorToken(service, 'branch', ['ingest:search'], 'beryl')
})

const statementOf = (at: number, customer_id: string, owed: string, paid: string, over = {}) =>
  aStatement({
    id: anId(at),
    customer_id,
    statement_balances: [{ asset: 'QRTZ', amount_paid: paid, total_amount_owed: owed }],
    ...over,
  })

const february = { period_start: '2026-02-01T00:00:00Z', period_end: '2026-03-01T00:00:00Z' }
const open = { period_start: '2030-06-01T00:00:00Z', period_end: '2030-07-01T00:00:00Z' }

const statements = [
  statementOf(1, 'quartz', '0.3', '0.1'),
  statementOf(2, 'quartz', '100000000000000000000', '0.000000000000000001', february),
  statementOf(3, 'beryl', '5', '4.5', february),
  statementOf(4, 'beryl', '5', '5'),
  statementOf(5, 'beryl', '5', '0', open),
]

const accounts = ['PENDING', 'PENDING', 'REJECTED', 'APPROVED'].map((status, at) =>
  aFiatAccount({ id: anId(at + 1), customer_id: at === 1 ? 'beryl' : 'quartz', status }),
)

const quoteAt = (at: number, status: string, created_at: string) =>
  anIssuerQuote({ id: anId(at), customer_id: 'quartz', status, created_at })

const quotes = [
  quoteAt(1, 'FAILED', '2030-06-14T12:00:00Z'),
  quoteAt(2, 'FAILED', '2030-06-14T11:59:59.999999Z'),
  quoteAt(3, 'PENDING', '2030-06-15T10:59:59Z'),
  quoteAt(4, 'PENDING', '2030-06-15T11:00:00Z'),
]

const read = async (query = '', token = operator) => {
  const { status, body, text } = await service.call(`/ingest/v1/attention${query}`, { token })
  assert.equal(status, 200, text)
  return body
}

describe('what needs attention', () => {
  test('has the exact shortfalls of each asset, by customer and by period', async () => {
    const { shortfalls } = await read()
    const found = shortfalls.filter(({ asset }: { asset: string }) => asset === 'QRTZ')
    assert.deepEqual(found, [
      {
        asset: 'QRTZ',
        owed: '100000000000000000005.3',
        paid: '4.600000000000000001',
        shortfall: '100000000000000000000.699999999999999999',
        statements: 3,
        customers: 2,
        oldest_period_end: '2026-02-01T00:00:00Z',
        more: false,
        by_customer: [
          {
            customer_id: 'quartz',
            shortfall: '100000000000000000000.199999999999999999',
            statements: 2,
          },
          { customer_id: 'beryl', shortfall: '0.5', statements: 1 },
        ],
        by_period: [
          {
            period_start: '2026-02-01T00:00:00Z',
            owed: '100000000000000000005',
            paid: '4.500000000000000001',
            shortfall: '100000000000000000000.499999999999999999',
            statements: 2,
          },
          {
            period_start: '2026-01-01T00:00:00Z',
            owed: '0.3',
            paid: '0.1',
            shortfall: '0.2',
            statements: 1,
          },
        ],
      },
    ])
  })

  test('counts records by status and age, with whose they are', async () => {
    const { shortfalls: _, ...counts } = await read('?customer_id=quartz')
    const one = { count: 1, more: false }
    const ofQuartz = [{ customer_id: 'quartz', count: 1 }]
    const created = '2026-01-01T00:00:00Z'
    assert.deepEqual(counts, {
      failed_quotes: {
        ...one,
        since: '2030-06-14T12:00:00Z',
        oldest: '2030-06-14T12:00:00Z',
        newest: '2030-06-14T12:00:00Z',
        customers: ofQuartz,
      },
      pending_quotes: {
        ...one,
        oldest: '2030-06-15T10:59:59Z',
        newest: '2030-06-15T10:59:59Z',
        customers: ofQuartz,
      },
      pending_accounts: { ...one, oldest: created, newest: created, customers: ofQuartz },
      rejected_accounts: { ...one, oldest: created, newest: created, customers: ofQuartz },
      deprecated_instructions: {
        ...one,
        since: '2030-06-08T12:00:00Z',
        oldest: created,
        newest: created,
        customers: ofQuartz,
      },
    })
    const { rejected_accounts: ofAll } = await read()
    assert.ok(ofAll.count > 1)
    const sizes = ofAll.customers.map(({ count }: { count: number }) => count)
    assert.deepEqual(
      sizes,
      sizes.toSorted((a: number, b: number) => b - a),
    )
  })

  test('of one customer is what a bound client sees, and nothing of another one', async () => {
    const own = await read('', bound)
    assert.deepEqual(own, await read('?customer_id=beryl'))
    assert.equal(own.shortfalls[0].shortfall, '0.5')
    assert.equal(own.pending_accounts.count, 1)
    assert.equal(own.failed_quotes.count, 0)
    const foreign = await read('?customer_id=quartz', bound)
    assert.deepEqual(foreign, await read('?customer_id=nobody'))
  })

  test('says where there are more records than it counts', async () => {
    const many = Array.from({ length: limitNamed('attentionRowsMax') + 1 }, (_, at) =>
      aFiatAccount({ id: anId(at + 100), customer_id: 'jasper', status: 'PENDING' }),
    )
    await take(service.parts.store, 'fiat-accounts', many)
    const { pending_accounts: pending } = await read('?customer_id=jasper')
    assert.deepEqual([pending.count, pending.more], [limitNamed('attentionRowsMax'), true])
  })
})

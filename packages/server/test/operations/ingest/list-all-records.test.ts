import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { resources } from '@bursar/contract'
import { describeService } from '../../../../../test/support/describe-service.ts'
import { lists } from '../../../../../test/support/operation-calls.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { readAllPages } from '../../../../../test/support/read-all-pages.ts'
import { take } from '../../../../../test/support/record-store.ts'
import { aFiatAccount, anId, aStatement } from '../../../../../test/support/records.ts'

let operator: string
let bound: string

const service = describeService({}, async ({ parts }) => {
  operator = await operatorToken(service, 'staff', ['ingest:search'])
  bound = await operatorToken(service, 'branch', ['ingest:search'], 'quartz')
  await take(parts.store, 'statements', shortfalls)
})

const balance = (owed: string, paid: string) => [
  { asset: 'QRTZ', amount_paid: paid, total_amount_owed: owed },
]

/** Of two customers of this file, in an asset of their own. */
const shortfalls = [
  ['1000000000000000000000.1', '0', 'quartz'],
  ['10', '9.999999999999999999', 'other'],
  ['7', '5.5', 'quartz'],
  ['3', '3', 'quartz'],
].map(([owed = '', paid = '', customer_id], at) =>
  aStatement({ id: anId(700 + at), customer_id, statement_balances: balance(owed, paid) }),
)

const read = (path: string, token = operator) => service.call(`/ingest/v1/${path}`, { token })

type Item = { customer_id: string; record: { id: string; status: string }; shortfall?: string }

/** The items of all pages of a size. */
async function readAll(path: string, limit: number, token = operator) {
  const items: Item[] = []
  let cursor = ''
  do {
    const { status, body, text } = await read(
      `${path}&limit=${limit}&page_cursor=${encodeURIComponent(cursor)}`,
      token,
    )
    assert.equal(status, 200, text)
    assert.ok(body.items.length <= limit)
    items.push(...body.items)
    cursor = body.next_page_cursor ?? ''
  } while (cursor !== '')
  return items
}

const short = 'statements?shortfall=true&asset=QRTZ'

describe('shortfalls of all customers', () => {
  test('are the largest first, exact, and each once in pages of any size', async () => {
    for (const limit of [1, 2, 100]) {
      const items = await readAll(short, limit)
      assert.deepEqual(
        items.map(({ customer_id: customer, record, shortfall }) => [
          customer,
          record.id,
          shortfall,
        ]),
        [
          ['quartz', anId(700), '1000000000000000000000.1'],
          ['quartz', anId(702), '1.5'],
          ['other', anId(701), '0.000000000000000001'],
        ],
        String(limit),
      )
    }
    const smallest = await readAll(`${short}&order=ASC&order_by=SHORTFALL`, 1)
    assert.deepEqual(
      smallest.map(({ record }) => record.id),
      [701, 702, 700].map(anId),
    )
  })

  test('of another customer are nothing that a bound client sees or can name', async () => {
    const own = await readAll(short, 1, bound)
    assert.deepEqual(
      own.map(({ record }) => record.id),
      [anId(700), anId(702)],
    )
    assert.deepEqual(await readAll(`${short}&customer_id=quartz`, 9, bound), own)
    assert.deepEqual(await readAll(`${short}&customer_id=other`, 9, bound), [])
    assert.equal((await readAll(`${short}&customer_id=other`, 9)).length, 1)
  })

  test('need an asset, and have an order of their own', async () => {
    const faults = [
      ['statements?shortfall=true', 'asset', 'missing'],
      ['statements?asset=QRTZ', 'asset', 'conflicting'],
      ['statements?order_by=SHORTFALL', 'order_by', 'conflicting'],
      [`${short}&order_by=CREATED_AT`, 'order_by', 'conflicting'],
    ]
    for (const [path = '', parameter, code] of faults) {
      const { status, body } = await read(path)
      const [error] = body.meta.errors
      assert.deepEqual([status, error.parameter, error.code], [400, parameter, code], path)
    }
  })

  test('have a cursor that opens for no other asset and no other caller', async () => {
    const { body } = await read(`${short}&limit=1`)
    const cursor = encodeURIComponent(body.next_page_cursor)
    for (const [path, token] of [
      [`statements?shortfall=true&asset=USDG&page_cursor=${cursor}`, operator],
      [`${short}&order=ASC&page_cursor=${cursor}`, operator],
      [`${short}&page_cursor=${cursor}`, bound],
    ] as const) {
      assert.equal((await read(path, token)).status, 400, path)
    }
  })
})

describe('the list of a kind over all customers', () => {
  test('has the records of the sandbox, as the lists of their customers show them', async () => {
    const list = lists.find(({ view }) => view.resource.kind === 'fiat-accounts')
    assert.ok(list !== undefined)
    const own = await readAllPages(service, list)
    const items = await readAll('fiat-accounts?customer_id=acme', 90)
    assert.deepEqual(
      items.map(({ record }) => record),
      own.items,
    )
  })

  test('is of a status and of a time, newest or oldest first', async () => {
    await take(service.parts.store, 'fiat-accounts', [
      aFiatAccount({ id: anId(710), customer_id: 'quartz', created_at: '2031-01-01T00:00:00.5Z' }),
    ])
    const later = 'created_at.gte=2031-01-01T00:00:00.5Z'
    const found = await readAll(`fiat-accounts?status=PENDING&${later}`, 5)
    assert.deepEqual(
      found.map(({ record }) => record.id),
      [anId(710)],
    )
    assert.deepEqual(
      await readAll(`fiat-accounts?${later}&created_at.lt=2031-01-01T00:00:00.5Z`, 5),
      [],
    )
    // A finer bound than a record may have lies after it.
    assert.deepEqual(
      await readAll('fiat-accounts?created_at.gte=2031-01-01T00:00:00.5000001Z', 5),
      [],
    )
    const pending = await readAll('fiat-accounts?status=PENDING&order=ASC', 50)
    assert.ok(pending.every(({ record }) => record.status === 'PENDING'))
    assert.equal(pending.at(-1)?.record.id, anId(710))
  })

  test('needs the scope ingest:search', async () => {
    const token = await operatorToken(service, 'reader', ['ingest:read_record'])
    for (const { kind } of resources) assert.equal((await read(kind, token)).status, 403, kind)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeService } from '../../../../../test/support/describe-service.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { take } from '../../../../../test/support/record-store.ts'
import { anId, aStatement } from '../../../../../test/support/records.ts'
import { inAnHour } from '../../../../../test/support/until.ts'

const scopes = ['ingest:write_statements', 'ingest:read_history'] as const
let operator: string
let bound: string

const service = describeService({}, async () => {
  operator = await operatorToken(service, 'core', scopes)
  bound = await operatorToken(service, 'branch', scopes, 'borealis')
})

const latest = (query = '', token = operator) =>
  service.call(`/ingest/v1/changes/latest?${query}`, { token })

async function put(customer: string, at: number, amount: string) {
  const id = anId(at)
  const total = { asset: 'USDG', amount_paid: '0', total_amount_owed: amount }
  const record = aStatement({ id, customer_id: customer, statement_balances: [total] })
  const call = { method: 'PUT', token: operator, body: JSON.stringify(record) }
  assert.ok((await service.call(`/ingest/v1/statements/${id}`, call)).status < 300)
}

describe('GET /ingest/v1/changes/latest', () => {
  test('200 has the newest changes of all customers first, each with its origin', async () => {
    await put('one', 701, '1')
    await put('two', 702, '1')
    await put('one', 701, '2')
    const origin = {
      file: 'last.ndjson',
      user: 'ada',
      sudoUser: undefined,
      sha256: async () => 'a',
    }
    await take(
      service.parts.store,
      'statements',
      [aStatement({ id: anId(703), customer_id: 'two' })],
      { origin },
    )
    const { status, body } = await latest('limit=4')
    assert.equal(status, 200)
    assert.deepEqual(
      body.changes.map((change: Record<string, { readonly id: string }>) => [
        change.customer_id,
        change.type,
        change.object?.id,
        change.origin,
      ]),
      [
        [
          'two',
          'statement.created',
          anId(703),
          { command: 'import', file: 'last.ndjson', user: 'ada', line: 1 },
        ],
        ['one', 'statement.updated', anId(701), { command: 'PUT', client_id: 'core' }],
        ['two', 'statement.created', anId(702), { command: 'PUT', client_id: 'core' }],
        ['one', 'statement.created', anId(701), { command: 'PUT', client_id: 'core' }],
      ],
    )
    const { body: feed } = await service.call('/ingest/v1/changes?limit=1000', { token: operator })
    const shown = body.changes.map(
      ({ origin: _, changed: __, ...event }: Record<string, unknown>) => event,
    )
    for (const event of shown) {
      const same = feed.items.find(({ id }: { readonly id: string }) => id === event.id)
      if (same !== undefined) assert.deepEqual(event, same)
    }
  })

  test('a large import takes no more than the limit, and the newest of it', async () => {
    const { body } = await latest('customer_id=acme')
    assert.equal(body.changes.length, 25)
    assert.ok(body.changes.every((change: Record<string, string>) => change.customer_id === 'acme'))
    const events = await service.call('/v2/events?order=DESC&limit=25')
    assert.deepEqual(
      body.changes.map(({ id }: { readonly id: string }) => id),
      events.body.items.map(({ id }: { readonly id: string }) => id),
    )
  })

  test('a consumed fee is one of them, of a customer without records too', async () => {
    const fee = { id: anId(799), customerId: 'fees-only' }
    await service.parts.store.operator.noteConsumed(fee, inAnHour())
    const { body } = await latest('limit=1')
    const [{ customer_id, type, object, origin }] = body.changes
    assert.deepEqual(
      [customer_id, type, object.id, origin],
      ['fees-only', 'crypto_withdrawal_fee.consumed', fee.id, {}],
    )
  })

  test('an erased customer is not among them, and others still are', async () => {
    await put('gone', 711, '1')
    let from: Parameters<typeof service.parts.store.operator.eraseSome>[2]
    do {
      from = (await service.parts.store.operator.eraseSome('gone', [], from)).next
    } while (from !== undefined)
    assert.deepEqual((await latest('customer_id=gone')).body, { changes: [] })
    const { body } = await latest('limit=3')
    const customers = body.changes.map((change: Record<string, string>) => change.customer_id)
    assert.deepEqual(customers, ['fees-only', 'two', 'one'])
  })

  test('a bound client gets the changes of its customer alone', async () => {
    const { body } = await latest('', bound)
    assert.equal(body.changes.length, 25)
    for (const change of body.changes) assert.equal(change.customer_id, 'borealis')
    assert.deepEqual((await latest('customer_id=acme', bound)).body, { changes: [] })
    assert.deepEqual((await latest('customer_id=nobody')).body, { changes: [] })
  })

  test('an update names what it changed, and its status before and after', async () => {
    const id = anId(705)
    await put('three', 705, '1')
    await put('three', 705, '2')
    const paid = aStatement({ id, customer_id: 'three', status: 'STATEMENT_STATUS_PAID' })
    const call = { method: 'PUT', token: operator, body: JSON.stringify(paid) }
    assert.equal((await service.call(`/ingest/v1/statements/${id}`, call)).status, 200)
    const { body } = await latest('customer_id=three')
    assert.deepEqual(
      body.changes.map(({ changed, status_before, status_after }: Record<string, unknown>) => [
        changed,
        status_before,
        status_after,
      ]),
      [
        [['status', 'statement_balances'], 'STATEMENT_STATUS_GENERATED', 'STATEMENT_STATUS_PAID'],
        [['statement_balances'], undefined, undefined],
        [undefined, undefined, undefined],
      ],
    )
  })

  test('400 for a limit of more than 25', async () => {
    assert.equal((await latest('limit=26')).status, 400)
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orderFaults, readOrder, type SeenWrite } from '../../../test/support/change-order.ts'
import { describeStore } from '../../../test/support/describe-store.ts'
import { resourceOf } from '../../../test/support/record-store.ts'
import { aDepositAddress, aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'

const tested = describeStore()

const changesOf = async (customerId: string) => {
  const { versions } = await readOrder(tested.ask)
  return versions
    .filter((version) => version.customerId === customerId)
    .toSorted((one, other) => one.change - other.change)
    .map(({ change, kind, id }) => [change, kind, Number(id.slice(-4))])
}

const ofOther = (id: number) => aDepositAddress({ id: anId(id), customer_id: 'other' })

test('the versions of a customer are numbered over all kinds, in the order of their commits', async () => {
  const [one, two] = [1, 2].map((at) => aFiatAccount({ id: anId(at), ref_id: `r-${at}` }))
  await tested.take('fiat-accounts', [one, two])
  await tested.take('statements', [aStatement({ id: anId(3) })])
  await tested.take('fiat-accounts', [{ ...one, status: 'REJECTED' }, two])
  await tested.take('deposit-addresses', [aDepositAddress({ id: anId(4) })])
  await tested.store.operator.put(resourceOf('statements'), {
    record: { customerId: 'acme', id: anId(3), withdraws: true },
    precondition: {},
    allowOlder: false,
    from: { command: 'DELETE', clientId: 'core' },
  })
  await tested.take('deposit-addresses', [ofOther(5)], { takeOver: true })
  assert.deepEqual(await changesOf('acme'), [
    [1, 'fiat-accounts', 1],
    [2, 'fiat-accounts', 2],
    [3, 'statements', 3],
    [4, 'fiat-accounts', 1],
    [5, 'deposit-addresses', 4],
    [6, 'statements', 3],
    // Its address was taken.
    [7, 'deposit-addresses', 4],
  ])
  assert.deepEqual(await changesOf('other'), [[1, 'deposit-addresses', 5]])
  assert.deepEqual(orderFaults(await readOrder(tested.ask)), [])
})

test('a refused import and a dry run take no number', async () => {
  await tested.take('deposit-addresses', [aDepositAddress()])
  const { faultCount } = await tested.take('deposit-addresses', [ofOther(5)])
  await tested.take('statements', [aStatement()], { dryRun: true })
  const { counted } = await readOrder(tested.ask)
  assert.deepEqual([faultCount, [...counted]], [1, [['acme', 1]]])
})

test('the check of the order finds each way to break it', async () => {
  await tested.take('fiat-accounts', [aFiatAccount()])
  await tested.take('statements', [aStatement()])
  const order = await readOrder(tested.ask)
  const [first, second] = order.versions.toSorted((one, other) => one.change - other.change)
  assert.ok(first !== undefined && second !== undefined)
  const numbered = (changes: readonly number[]) => ({
    ...order,
    versions: [first, second].map((version, at) => ({ ...version, change: changes[at] ?? 0 })),
  })
  const sent: SeenWrite[] = [first, second].map((version, at) => ({
    ...version,
    sentAt: 2 * at,
    answeredAt: 2 * at + 1,
  }))
  assert.deepEqual(orderFaults(order, sent), [])
  assert.deepEqual(orderFaults(numbered([1, 1])), [
    'acme: 2 versions have the number 1',
    'acme: 0 versions have the number 2',
  ])
  assert.deepEqual(orderFaults(numbered([1, 3])), [
    'acme: 3 was not counted',
    'acme: 0 versions have the number 2',
  ])
  const [swapped] = orderFaults(numbered([2, 1]), sent)
  assert.match(swapped ?? '', /has 1, after 2$/)
})

test('the check of the order finds a store that numbers versions by a clock', async () => {
  await tested.take('fiat-accounts', [aFiatAccount()])
  await tested.take('statements', [aStatement()])
  for (const table of ['fiat_account', 'statement']) {
    await tested.ask(`update bursar.${table} set change = stored_at`)
  }
  const faults = orderFaults(await readOrder(tested.ask))
  assert.ok(faults.includes('acme: 0 versions have the number 1'), faults.join('\n'))
})

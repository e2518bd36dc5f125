import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordKinds } from '@bursar/contract'
import { samples } from '../../../test/support/records.ts'
import { describeSandbox, ndjson } from '../../../test/support/sandbox-control.ts'

const sandbox = describeSandbox()

test('each control call gives an event, and a cursor outlives the removal of its record', async () => {
  for (const kind of recordKinds) {
    const as = await sandbox.customer()
    const record = samples[kind]({ customer_id: as.customerId })
    const put = (over: object) =>
      sandbox.control('PUT', `/sandbox/records/${kind}`, ndjson({ ...record, ...over }))
    const cursors: string[] = []
    const read = async (cursor = '') =>
      (await sandbox.call(`/v2/events?page_cursor=${cursor}`, { as })).body
    const calls = [
      () => put({}),
      () => put({ ref_id: 'changed' }),
      () => sandbox.control('DELETE', `/sandbox/records/${kind}/${record.id}`),
      () => put({ ref_id: 'again' }),
    ]
    for (const call of calls) {
      await call()
      cursors.push((await read()).resume_cursor)
    }
    const actions = ({ items }: { readonly items: readonly { readonly type: string }[] }) =>
      items.map(({ type }) => type.split('.')[1])
    const all = ['created', 'updated', 'deleted', 'created']
    assert.deepEqual(actions(await read()), all, kind)
    for (const [at, cursor] of cursors.entries()) {
      assert.deepEqual(actions(await read(cursor)), all.slice(at + 1), `${kind} ${at}`)
    }
    await sandbox.control('DELETE', `/sandbox/records/${kind}/${record.id}`)
  }
})

test('a cursor from after a snapshot is refused once the snapshot is restored', async () => {
  const as = await sandbox.customer()
  const record = samples.statements({ customer_id: as.customerId })
  const put = (ref: string) =>
    sandbox.control('PUT', '/sandbox/records/statements', ndjson({ ...record, ref_id: ref }))
  const read = (cursor = '') => sandbox.call(`/v2/events?page_cursor=${cursor}`, { as })
  await put('before')
  const { resume_cursor: before } = (await read()).body
  const { id } = (await sandbox.control('POST', '/sandbox/snapshots')).body
  await put('after')
  const { resume_cursor: after } = (await read()).body
  await sandbox.control('POST', `/sandbox/snapshots/${id}/restore`)
  assert.equal((await read(after)).status, 410)
  assert.deepEqual((await read(before)).body.items, [])
  // Another version has the number now.
  await put('instead')
  assert.equal((await read(after)).status, 410)
  assert.equal((await read(before)).body.items.length, 1)
  await sandbox.control('DELETE', `/sandbox/records/statements/${record.id}`)
})

test('a record that a test has removed is gone from every other read', async () => {
  const as = await sandbox.customer()
  const id = '12345678-0000-4000-8000-000000000001'
  const record = samples['fiat-accounts']({ id, customer_id: as.customerId })
  await sandbox.control('PUT', '/sandbox/records/fiat-accounts', ndjson(record))
  await sandbox.control('DELETE', `/sandbox/records/fiat-accounts/${id}`)
  const { items } = (await sandbox.call('/v2/events', { as })).body
  const path = '/v2/transfer/fiat-accounts'
  for (const { as_of: asOf } of items) {
    for (const query of ['', 'include_deleted=true', `as_of=${asOf}`]) {
      assert.equal((await sandbox.call(`${path}/${id}?${query}`, { as })).status, 404, query)
      const list = await sandbox.call(`${path}?ids=${id}&${query}`, { as })
      assert.deepEqual(list.body, { items: [] }, query)
    }
  }
})

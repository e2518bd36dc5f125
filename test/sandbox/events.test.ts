import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordKinds } from '../../src/resources/catalogue.ts'
import { samples } from '../support/records.ts'
import { describeSandbox, ndjson } from '../support/sandbox-control.ts'

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

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPostgresTestStore } from '../../../test/support/record-store.ts'
import { addressesOf } from '../../../test/support/test-database.ts'
import { openConnection } from '../src/driver/connection.ts'

test('a statement without values is prepared too', async (t) => {
  const tested = await openPostgresTestStore()
  t.after(tested.close)
  const [address] = addressesOf(tested.database.url)
  assert.ok(address !== undefined)
  const session = openConnection(address, { parameters: {}, connectTimeoutMs: 60_000 })
  t.after(() => session.close())
  const text = 'select 7 as seven'
  await session.rows({ text, prepare: true })
  await session.rows({ text, prepare: true })
  const prepared = await session.rows({
    text: `select calls.generic_plans + calls.custom_plans as runs
      from pg_prepared_statements as calls where statement = $1`,
    values: [text],
  })
  assert.deepEqual(
    prepared.map(({ runs }) => runs),
    [2n],
  )
})

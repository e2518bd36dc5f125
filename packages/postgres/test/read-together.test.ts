import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts'
import { connectTo } from '../../records/test/support/postgres-world.ts'
import { readTogether } from '../src/cluster/transaction.ts'
import type { Connection } from '../src/driver/connection.ts'

let database: TestDatabase
let connection: Connection
before(async () => {
  database = await openTestDatabase()
  connection = connectTo(database.url)
})
after(async () => {
  await connection.close()
  await database.drop()
})

const statements = (...texts: readonly string[]) => texts.map((text) => ({ text }))

test('statements that are sent together see one transaction', async () => {
  const [[first] = [], [second] = []] = await readTogether(
    connection,
    statements(
      `select set_config('bursar.customer_id', 'acme', true), now()::text as at`,
      `select current_setting('bursar.customer_id') as customer, now()::text as at`,
    ),
  )
  assert.deepEqual([second?.customer, second?.at], ['acme', first?.at])
})

test('the first that fails is named, and its transaction is over', async () => {
  for (const [text, code] of [
    ['select 1 / 0', '22012'],
    ['create table public.written (one int)', '25006'],
  ] as const) {
    const sent = statements('select 1', text, 'select 2')
    await assert.rejects(readTogether(connection, sent), { code }, text)
    const [row] = await connection.rows({ text: 'select 3 as three' })
    assert.equal(row?.three, 3n, text)
  }
})

test('each that fails after the first one names it, until the transaction is over', async () => {
  await connection.execute('begin')
  const sent = ['select 1 / 0', 'select 2', 'select 3'].map((text) => connection.rows({ text }))
  for (const one of await Promise.allSettled(sent)) {
    assert.deepEqual(
      [one.status, one.status === 'rejected' && one.reason.code],
      ['rejected', '22012'],
    )
  }
  await connection.execute('rollback')
  const [row] = await connection.rows({ text: 'select 4 as four' })
  assert.equal(row?.four, 4n)
  await assert.rejects(connection.rows({ text: 'select nothing' }), { code: '42703' })
})

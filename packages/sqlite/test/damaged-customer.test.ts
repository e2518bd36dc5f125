import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { systemTime } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { take } from '../../../test/support/record-store.ts'
import { anId, aStatement } from '../../../test/support/records.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { testSealing } from '../../../test/support/test-sealing.ts'
import { statement } from '../../contract/src/resources/statement.ts'
import { compareTables } from '../src/files/compare-tables.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'

test('a list shows no records of the customer to which a damaged index leads', async (t) => {
  const folder = temporaryFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'records.db')
  const stored = openSqliteStore(path, systemTime.now, testSealing)
  for (const [at, customer_id] of ['first', 'second', 'third'].entries()) {
    await take(stored, 'statements', [aStatement({ id: anId(at + 1), customer_id })])
  }
  await stored.close()
  // An entry of the index has the id and then the number, which is 3.
  const content = readFileSync(path)
  const at = content.indexOf('third\x03')
  assert.ok(at > 0)
  content[at + 'third'.length] = 2
  writeFileSync(path, content)
  const damaged = openSqliteStore(path, systemTime.now, testSealing)
  t.after(() => damaged.close())
  const filters = [[], [{ column: 'id', values: [anId(2), anId(3)] }]]
  for (const anyOf of filters) {
    const selection = { ...firstPage, anyOf }
    const page = await damaged.customers.page(asTenant('third'), statement.full, selection)
    assert.equal(page.rows, 0, JSON.stringify(anyOf))
  }
  using db = new DatabaseSync(path)
  await assert.rejects(Array.fromAsync(compareTables(db, () => 8)), /of customer lacks a row$/)
})

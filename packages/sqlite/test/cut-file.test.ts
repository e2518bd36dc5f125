import assert from 'node:assert/strict'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { openDatabase } from '../src/database.ts'

const ROWS = 2000

// If the file were mapped into memory, the system would end the process with SIGBUS.
test('a file that is cut while it is read is an error of the read, and the process goes on', (t) => {
  const file = join(temporaryFolder(), 'cut.db')
  const db = openDatabase(file)
  t.after(() => db.close())
  db.exec(`
    pragma cache_size = 10;
    create table t (body text);
    with recursive n (at) as (select 1 union all select at + 1 from n where at < ${ROWS})
    insert into t select hex(zeroblob(3000)) from n;
    pragma wal_checkpoint(truncate)`)
  const rows = db.prepare('select body from t').iterate()
  assert.equal(rows.next().done, false)
  truncateSync(file, 100 * 8192)
  assert.throws(() => [...rows], /malformed|I\/O error/)
  assert.deepEqual({ ...db.prepare('select 1 as one').get() }, { one: 1 })
})

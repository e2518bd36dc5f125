import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { limitNamed, openBackground, openLog, systemTime } from '@bursar/base'
import { StoreCorrupted, StoreDamaged } from '@bursar/records'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { testSealing } from '../../../test/support/test-sealing.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { watchDamage } from '../src/files/damage-watch.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'

/** Stores a row while the schema does not name one of its indexes, which then lacks it. */
function hideRow(path: string): void {
  const change = (...statements: string[]) => {
    using db = new DatabaseSync(path, { defensive: false })
    for (const sql of statements) db.exec(sql)
  }
  const isIndex = `where name = 'revision_by_time'`
  change(
    `create table kept as select * from sqlite_schema ${isIndex}`,
    'pragma writable_schema = on',
    `delete from sqlite_schema ${isIndex}`,
  )
  change(`insert into revision (customer, kind, changed_at) values (1, 'statements', 5)`)
  change(
    'pragma writable_schema = on',
    'insert into sqlite_schema select * from kept',
    'drop table kept',
  )
}

test('a row that an index lacks is damage of its file, and is not forgotten', async (t) => {
  const folder = temporaryFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'records.db')
  const store = openSqliteStore(path, systemTime.now, testSealing)
  t.after(() => store.close())
  using time = takeTime()
  const warnings: unknown[] = []
  const warn = (bound: unknown) => void warnings.push(bound)
  const log = Object.assign(openLog('silent'), { warn })
  const watch = watchDamage({ paths: () => [path], log, background: openBackground() })
  const round = () => time.advance(2 * limitNamed('walkRoundRestMs'))
  await round()
  assert.equal(watch.fault(), undefined)
  watch.noteFailure(new StoreDamaged('a record'))
  watch.noteFailure(new Error('something else'))
  assert.equal(watch.fault(), undefined)
  hideRow(path)
  await round()
  const sentence = (found: string) =>
    `${path} is damaged: ${found}; stop this server, and restore a backup with \`bursar restore FILE --replace\``
  assert.equal(watch.fault(), sentence('the index revision_by_time of revision lacks a row'))
  const reported = new StoreCorrupted('database disk image is malformed')
  watch.noteFailure(reported)
  assert.equal(watch.fault(), sentence('the index revision_by_time of revision lacks a row'))
  const other = watchDamage({ paths: () => [path], log, background: openBackground() })
  other.noteFailure(reported)
  assert.equal(other.fault(), sentence(reported.message))
  await other.stop()
  assert.deepEqual(warnings, [])
  await watch.stop()
  assert.equal(time.waiting(), 0)
})

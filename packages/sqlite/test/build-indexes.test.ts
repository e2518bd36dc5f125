import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { buildingIndexes } from '../src/import/import-connection.ts'
import { transact } from '../src/locks.ts'

const MANY = limitNamed('indexesBuiltAfterRowsMin')

let db: DatabaseSync
let reader: DatabaseSync
beforeEach(() => {
  const file = join(temporaryFolder(), 'indexes.db')
  db = new DatabaseSync(file)
  db.exec(`pragma journal_mode = wal;
    create table t (id text primary key, name text) strict, without rowid;
    create unique index t_by_name on t (name) where name is not null;
    create index t_by_both on t (name, id)`)
  reader = new DatabaseSync(file)
})
afterEach(() => {
  reader.close()
  db.close()
})

const indexes = (of = db) => of.prepare('select name, sql, rootpage from sqlite_schema').all()
const withoutPages = (of = db) => indexes(of).map(({ name, sql }) => [name, sql])
const insert = (...ids: readonly string[]) => {
  for (const id of ids) db.prepare('insert into t values (?, ?)').run(id, `name-${id}`)
}

describe('an insert of many rows into an empty table', () => {
  test('builds the same indexes after it, and readers never lack one', async () => {
    const before = withoutPages()
    const find = reader.prepare('select id from t indexed by t_by_name where name = ?')
    let during: unknown
    await transact(db, () =>
      buildingIndexes(db, 't', MANY, async () => {
        assert.equal(withoutPages().length, 1)
        insert('a', 'b')
        during = find.get('name-a')
      }),
    )
    assert.equal(during, undefined)
    assert.deepEqual(withoutPages(), before)
    assert.deepEqual({ ...find.get('name-b') }, { id: 'b' })
    assert.deepEqual(db.prepare('pragma integrity_check').all().length, 1)
  })

  test('that fails leaves the indexes as they were', async () => {
    const before = indexes()
    const failing = () =>
      transact(db, () =>
        buildingIndexes(db, 't', MANY, async () => {
          insert('a')
          insert('a')
        }),
      )
    await assert.rejects(failing, /UNIQUE constraint failed/)
    const repeatedName = () =>
      transact(db, () =>
        buildingIndexes(db, 't', MANY, async () =>
          db.exec("insert into t values ('a', 'x'), ('b', 'x')"),
        ),
      )
    await assert.rejects(repeatedName, /UNIQUE constraint failed/)
    assert.deepEqual(indexes(), before)
  })
})

test('an insert of few rows, or into a table with rows, keeps the indexes', async () => {
  const before = indexes()
  await buildingIndexes(db, 't', MANY - 1, async () => insert('a'))
  await buildingIndexes(db, 't', MANY, async () => insert('b'))
  assert.deepEqual(indexes(), before)
})

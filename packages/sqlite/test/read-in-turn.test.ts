import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { turn } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { openReadInTurn, type ReadInTurn } from '../src/records/read-in-turn.ts'

let db: DatabaseSync
let writer: DatabaseSync
let read: ReadInTurn
let time: ReturnType<typeof takeTime>

beforeEach(() => {
  const file = join(temporaryFolder(), 'turns.db')
  db = new DatabaseSync(file)
  db.exec('pragma journal_mode = wal; create table t (n integer); insert into t values (1)')
  writer = new DatabaseSync(file)
  // However slow the machine is, the reads of a turn stay together.
  time = takeTime()
  read = openReadInTurn(db)
})
afterEach(() => {
  time[Symbol.dispose]()
  if (db.isOpen) db.close()
  writer.close()
})

const value = () => db.prepare('select n from t').get()?.n

describe('reads of one turn', () => {
  test('share a transaction, and the next turn sees what was written since', async () => {
    const raise = () => writer.exec('update t set n = n + 1')
    const results = await Promise.all([read(value), read(raise), read(value)])
    assert.deepEqual(results, [1, undefined, 1])
    assert.equal(db.isTransaction, false)
    assert.equal(await read(value), 2)
  })

  test('fail alone', async () => {
    const failing = read(() => db.prepare('select absent from t'))
    const others = Promise.all([read(value), read(value)])
    await assert.rejects(failing, /no such column/)
    assert.deepEqual(await others, [1, 1])
  })

  test('go on after one that has ended the transaction', async () => {
    const ending = read(() => db.exec('rollback'))
    assert.deepEqual(await Promise.all([ending, read(value)]), [undefined, 1])
    assert.equal(await read(value), 1)
  })

  test('are rejected when the database is closed before they run', async () => {
    const asked = [read(value), read(value)]
    db.close()
    for (const one of asked) await assert.rejects(one, /not open/)
  })

  test('give way to other work once they take too long, and all of them are read', async () => {
    const reading = (ms: number) => () => time.pass(ms)
    const done: number[] = []
    const parts = [limitNamed('readsTogetherMs') - 1, 1, limitNamed('readsTogetherMs'), 0]
    const reads = parts.map((ms, at) => read(reading(ms)).then(() => done.push(at)))
    await turn()
    assert.deepEqual(done, [0, 1])
    await Promise.all(reads)
    assert.deepEqual(done, [0, 1, 2, 3])
  })
})

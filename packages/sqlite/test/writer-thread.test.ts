import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Session } from '@bursar/records'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { untilHolds } from '../../../test/support/until.ts'
import { openDatabase } from '../src/database.ts'
import { queueTransactions } from '../src/locks.ts'
import { openConnectionThread } from '../src/thread/writer-thread.ts'

const noon = 1_000_000n

/** A connection in a thread, and one here that sees what it has committed. */
function openBoth(t: TestContext, makesFile = true) {
  const folder = temporaryFolder()
  const path = join(folder, 'thread.db')
  const make = () => {
    const db = openDatabase(path)
    db.exec('create table if not exists stored (value integer primary key)')
    return db
  }
  if (makesFile) make().close()
  const thread = openConnectionThread(
    path,
    'create temporary table kept (value integer)',
    () => noon,
  )
  t.after(async () => {
    await thread.close()
    rmSync(folder, { recursive: true })
  })
  const stored = () => {
    using db = make()
    return db
      .prepare('select value from stored')
      .all()
      .map(({ value }) => value)
  }
  return { thread, stored, make, path }
}

const store = (value: number) => ({ text: 'insert into stored values ($1)', values: [value] })

test('a transaction in a thread is stored if it resolves, and rolled back if it rejects', async (t) => {
  const { thread, stored } = openBoth(t)
  const staging = { table: 'stored', columns: { value: 'bigint' } }
  const rows = await thread.transact(async (session) => {
    await session.stage(staging, [[1n], [2n]])
    await session.run('insert into kept values (7)')
    assert.deepEqual(await session.rows({ text: 'select clock_microseconds() as now' }), [
      { now: noon },
    ])
    return await session.rows({ text: 'select sum(value) as sum from stored' })
  })
  assert.deepEqual(rows, [{ sum: 3n }])
  const failing = thread.transact(async (session) => {
    await session.rows(store(3))
    throw new Error('no')
  })
  await assert.rejects(failing, /no/)
  assert.deepEqual(stored(), [1, 2])
})

test('a log is emptied between transactions, and one that runs goes on', async (t) => {
  const { thread, stored, path } = openBoth(t)
  const logBytes = () => statSync(`${path}-wal`).size
  await thread.transact(async (session) => {
    await session.rows(store(1))
    await thread.emptyLog()
    await session.rows(store(2))
  })
  assert.ok(logBytes() > 0)
  await thread.emptyLog()
  assert.equal(logBytes(), 0)
  assert.deepEqual(stored(), [1, 2])
})

test('after a statement has failed, no other one of its transaction has an effect', async (t) => {
  const { thread, stored } = openBoth(t)
  let late: Promise<unknown> = Promise.resolve()
  const failing = thread.transact(async (session) => {
    // As SQLite does where the disk fails.
    const ended = session.run('rollback; select * from missing')
    const further = session.rows(store(1))
    late = failing.catch(() => session.rows(store(2)))
    await Promise.all([ended, further])
  })
  await assert.rejects(failing, /no such table: missing/)
  await assert.rejects(late, { name: 'StoreUnavailable' })
  assert.deepEqual(stored(), [])
  await thread.transact((session) => session.rows(store(3)))
  assert.deepEqual(stored(), [3])
})

test('the event loop turns while a statement of a thread runs', async (t) => {
  const { thread } = openBoth(t)
  let turns = 0
  let isRunning = true
  const count = () => {
    turns += 1
    if (isRunning) setImmediate(count)
  }
  await thread.transact(async (session) => {
    count()
    const text = `with recursive counted (n) as (select 1 union all select n + 1 from counted where n < 300000)
      select max(n) as n from counted`
    assert.deepEqual(await session.rows({ text }), [{ n: 300_000n }])
  })
  isRunning = false
  assert.ok(turns > 1, `${turns} turns`)
})

test('a transaction of a thread waits for the lock of another connection', async (t) => {
  const { thread, stored, make } = openBoth(t)
  using other = make()
  other.exec('begin immediate; insert into stored values (1)')
  let [attempts, runs] = [0, 0]
  const counted: typeof thread.transact = (work) => {
    attempts += 1
    return thread.transact(work)
  }
  const stores = queueTransactions({ ...thread, transact: counted })(async (session) => {
    runs += 1
    await session.rows(store(2))
  })
  await untilHolds('it was refused several times', () => attempts > 3)
  other.exec('commit')
  await stores
  // Its statements went with the first attempt. The further ones waited for the lock.
  assert.deepEqual([runs, stored()], [2, [1, 2]])
})

test('work that runs without the lock has no effect, whatever it makes of its failure', async (t) => {
  const staging = { table: 'kept', columns: { value: 'bigint' } }
  const works: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
    'waits for each statement': async ({ rows, run }) => {
      await run('insert into kept values (7)')
      await rows(store(2))
    },
    'sends all at once': ({ rows, stage }) => Promise.all([stage(staging, [[7n]]), rows(store(2))]),
    'says something else': ({ rows }) =>
      rows(store(2)).catch(() => {
        throw new Error('something else')
      }),
    'tells nobody': ({ rows }) => Promise.allSettled([rows(store(2))]),
  }
  for (const [name, work] of Object.entries(works)) {
    const { thread, stored, make, path } = openBoth(t)
    using other = make()
    other.exec('begin immediate; insert into stored values (1)')
    await assert.rejects(thread.transact(work), { errcode: SQLITE_BUSY }, name)
    await assert.rejects(queueTransactions(thread)(work, 0), late, name)
    other.exec('commit')
    await thread.emptyLog()
    assert.deepEqual([stored(), statSync(`${path}-wal`).size], [[1], 0], name)
    await thread.transact(work)
    assert.deepEqual(stored(), [1, 2], name)
  }
})

const SQLITE_BUSY = 5
const late = { message: 'another process has locked the database for too long' }

test('a thread that could not open its database is started again', async (t) => {
  const { thread, stored, make } = openBoth(t, false)
  const attempt = () => thread.transact((session) => session.rows(store(1)))
  await assert.rejects(attempt(), { name: 'StoreUnavailable' })
  make().close()
  await attempt()
  assert.deepEqual(stored(), [1])
})

test('starts in a program that Node was given as a text', (t) => {
  const folder = temporaryFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'thread.db')
  openDatabase(path).close()
  const from = new URL('../src/thread/writer-thread.ts', import.meta.url)
  const script = `import { openConnectionThread } from '${from}'
    const thread = openConnectionThread(${JSON.stringify(path)}, '', () => 0n)
    const [row] = await thread.transact(({ rows }) => rows({ text: 'select 7 as value' }))
    await thread.close()
    console.log(Number(row.value))`
  const words = ['--input-type=module', '--eval', script]
  assert.equal(execFileSync(process.execPath, words, { encoding: 'utf8' }), '7\n')
})

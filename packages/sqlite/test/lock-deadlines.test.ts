import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { limitNamed, systemTime } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { StoreUnavailable } from '@bursar/records'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { setLimits } from '../../../test/support/set-limits.ts'
import { settlesAfter } from '../../../test/support/settles-after.ts'
import { testSealing } from '../../../test/support/test-sealing.ts'
import { untilHolds } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { putOne } from '../../records/test/support/put-one.ts'
import { aQuote, aWithdrawal, noon } from '../../records/test/support/quotes.ts'
import { openDatabase, openFurther } from '../src/database.ts'
import { openSqliteFeeQuotes } from '../src/fee-quotes.ts'
import { compactFile } from '../src/files/compact-file.ts'
import { emptyLogSoon } from '../src/files/write-ahead-log.ts'
import { queueTransactions, retryWhileLocked } from '../src/locks.ts'
import { openSqliteAudit } from '../src/open-sqlite-audit.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'

const acme = asTenant('acme')
const newPath = () => join(temporaryFolder(), 'bursar.db')

/** Locks a database as another process does, until the returned function is called. */
function lock(path: string, begin = 'begin immediate'): () => void {
  const db = new DatabaseSync(path, { timeout: 0 })
  db.exec(begin)
  return () => db.close()
}

const busy = () => {
  throw Object.assign(new Error('database is locked'), { errcode: 5 })
}

test('work that a lock refuses is tried again after growing pauses, until its time is over', async () => {
  using time = takeTime()
  const begunAt = time.elapsedMs()
  const tries: number[] = []
  const work = retryWhileLocked(
    () => {
      tries.push(time.elapsedMs() - begunAt)
      return busy()
    },
    begunAt + 113,
    'locked',
  )
  await assert.rejects(settlesAfter(time, 113, work), new StoreUnavailable('locked'))
  assert.deepEqual(tries, [0, 1, 3, 7, 15, 31, 63, 113])
})

test('a transaction that waits behind others has its own deadline', async (t) => {
  setLimits(t, { storeWriteMs: 1000 })
  using time = takeTime()
  const transact = queueTransactions({ isOpen: () => true, transact: async () => busy() })
  const first = assert.rejects(
    transact(async () => {}),
    StoreUnavailable,
  )
  await time.advance(300)
  const second = transact(async () => {})
  await assert.rejects(settlesAfter(time, 1000, second, 5), StoreUnavailable)
  await first
})

describe('beside a process that has locked the file', () => {
  const set = {
    quoteIssueMs: 900,
    auditWriteMs: 1100,
    storeWriteMs: 1300,
    storeLockWaitMs: 1700,
    changesListedMs: 500,
    recordLockedMs: 700,
  }

  /** How long work on a locked file goes on. */
  async function settlesBesideLock<T>(
    t: TestContext,
    path: string,
    ms: number,
    work: () => Promise<T>,
  ) {
    t.after(lock(path))
    using time = takeTime()
    return await settlesAfter(time, ms, work(), limitNamed('storeRetryMsMax'))
  }

  /** Each of these writes to a locked file is given up after its time. */
  function areGivenUp<Opened extends { close(): void | Promise<void> }>(
    open: (path: string) => Opened,
    writes: Readonly<Record<string, [number, (opened: Opened) => Promise<unknown>]>>,
  ) {
    for (const [what, [ms, write]] of Object.entries(writes)) {
      test(`${what} is given up after its time`, async (t) => {
        setLimits(t, set)
        const path = newPath()
        const opened = open(path)
        t.after(() => opened.close())
        await assert.rejects(
          settlesBesideLock(t, path, ms, () => write(opened)),
          StoreUnavailable,
        )
      })
    }
  }

  areGivenUp((path) => openSqliteFeeQuotes(path, () => noon), {
    'a fee quote': [set.quoteIssueMs, (quotes) => quotes.customers.issue(acme, aQuote(), 9)],
    'a consumption': [set.quoteIssueMs, ({ operator }) => operator.consume(aWithdrawal())],
    'a sweep': [set.storeWriteMs, ({ operator }) => operator.sweep(1)],
    'an erasure of quotes': [
      set.storeLockWaitMs,
      ({ operator }) => operator.eraseSome('acme', { after: undefined, erases: true }),
    ],
  })

  const key = () => ({ id: 'key_1', key: Buffer.alloc(32) })
  const entry = { action: 'open_log', actor: { type: 'program' }, outcome: 'done' } as const
  areGivenUp((path) => openSqliteAudit(path, () => {}, { clock: () => noon, key }), {
    'an entry of the audit log': [set.auditWriteMs, (log) => log.write(entry)],
  })

  const fee = { id: anId(1), customerId: 'acme' }
  areGivenUp((path) => openSqliteStore(path, () => noon, testSealing), {
    'a display name': [
      set.storeLockWaitMs,
      ({ operator }) => operator.customers.rename('acme', 'Acme'),
    ],
    'an erasure of records': [
      set.storeLockWaitMs,
      ({ operator }) => operator.eraseSome('acme', [], undefined),
    ],
    'a first key': [set.recordLockedMs, ({ operator }) => operator.keys.ensure(acme)],
    'the event of a fee': [
      800,
      ({ operator }) => operator.noteConsumed(fee, systemTime.elapsedMs() + 800),
    ],
  })

  test('a feed of all customers soon answers what its log has', async (t) => {
    setLimits(t, set)
    const path = newPath()
    const store = openSqliteStore(path, () => noon, testSealing)
    t.after(store.close)
    await putOne(store, 'fiat-accounts', aFiatAccount())
    const page = () => store.operator.changes(undefined, 10)
    const { changes } = await settlesBesideLock(t, path, set.changesListedMs, page)
    assert.deepEqual(changes, [])
  })

  test('a single record is refused before long', async (t) => {
    setLimits(t, { recordPutMs: 5000, recordLockedMs: 700 })
    const path = newPath()
    const store = openSqliteStore(path, () => noon, testSealing)
    t.after(store.close)
    await putOne(store, 'fiat-accounts', aFiatAccount())
    t.after(lock(path))
    using time = takeTime()
    const begunAt = time.elapsedMs()
    let refusedAt: number | undefined
    const put = putOne(store, 'fiat-accounts', aFiatAccount({ status: 'REJECTED' }))
    const refused = assert.rejects(put, StoreUnavailable).finally(() => {
      refusedAt = time.elapsedMs() - begunAt
    })
    // Another thread tries to write, and some time passes until it has answered.
    while (refusedAt === undefined) await time.advance(1)
    await refused
    assert.ok(
      refusedAt >= 700 && refusedAt < limitNamed('recordPutMs'),
      `refused after ${refusedAt} ms`,
    )
  })
})

/** A database with rows in its log, and a reader that keeps the log. */
function readLog(t: TestContext) {
  const path = newPath()
  const db = openFurtherOf(path)
  db.exec('create table t (a); insert into t values (1)')
  const reader = new DatabaseSync(path)
  reader.exec('begin; select * from t')
  db.exec('insert into t values (2)')
  t.after(() => {
    db.close()
    if (reader.isOpen) reader.close()
  })
  return { path, db, reader, logBytes: () => statSync(`${path}-wal`).size }
}

function openFurtherOf(path: string): DatabaseSync {
  openDatabase(path).close()
  return openFurther(path)
}

describe('a write-ahead log that a reader needs', () => {
  test('is left after an import that has tried to empty it for a while', async (t) => {
    setLimits(t, { storeLogEmptiedMs: 1000 })
    const { db, logBytes } = readLog(t)
    using time = takeTime()
    await settlesAfter(time, 1000, emptyLogSoon(db), limitNamed('storeRetryMsMax'))
    assert.ok(logBytes() > 0)
  })

  test('is emptied by an import once the reader has ended', async (t) => {
    const { db, reader, logBytes } = readLog(t)
    using time = takeTime()
    const emptied = emptyLogSoon(db)
    await time.advance(limitNamed('storeRetryMsMax') - 1)
    reader.close()
    assert.ok(logBytes() > 0)
    await time.advance(1)
    await emptied
    assert.equal(logBytes(), 0)
  })

  test('is reported by a compaction that has waited for it', async (t) => {
    // SQLite itself waits as long for the reader, in real time.
    setLimits(t, { storeLockWaitMs: 2, storeRetryMsMax: 10 })
    const { path } = readLog(t)
    using time = takeTime()
    const compacted = settlesAfter(time, 10, compactFile(path))
    await assert.rejects(compacted, /is written anew, but its write-ahead log/)
  })
})

test('a server empties a log that a killed import has left, once a minute', async (t) => {
  setLimits(t, { storeLogBytesMax: 0 })
  const path = newPath()
  using time = takeTime()
  const store = openSqliteStore(path, () => noon, testSealing)
  t.after(store.close)
  using other = openFurther(path)
  other.exec('create table t (a)')
  const logBytes = () => statSync(`${path}-wal`).size
  await time.advance(limitNamed('storeLogCheckedMs') - 1)
  assert.ok(logBytes() > 0)
  await time.advance(1)
  await untilHolds('the thread has emptied the log', () => logBytes() === 0)
})

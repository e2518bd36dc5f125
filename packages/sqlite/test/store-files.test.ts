import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, type TestContext, test } from 'node:test'
import { type Logger, limitNamed, openBackground } from '@bursar/base'
import { StoreUnavailable } from '@bursar/records'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { setLimits } from '../../../test/support/set-limits.ts'
import { turn, untilHolds } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { sqliteFiles } from '../src/backup/sqlite-files.ts'
import { openDatabase } from '../src/database.ts'
import { openedFiles } from '../src/files/opened-files.ts'
import { isVacant, storePaths } from '../src/files/require-files.ts'
import { watchFiles } from '../src/files/watch-files.ts'
import { openWriteProbe } from '../src/files/write-probe.ts'
import { appliedSteps } from '../src/migrate.ts'
import { openSqliteCredentials } from '../src/open-sqlite-credentials.ts'
import { openThreadWriter } from '../src/thread/file-writer.ts'

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

/** A watched store, and what it logs. */
function openWatched(name: string) {
  const path = join(folder, name)
  const store = openSqliteCredentials(path)
  const opened = openedFiles()
  opened.note(path)
  let looks = 0
  const fault = () => {
    looks += 1
    return opened.fault()
  }
  const files = { ...opened, fault }
  const logged: string[] = []
  const log = {
    error: (_: object, message: string) => logged.push(message),
    info: (message: string) => logged.push(message),
  } as unknown as Logger
  const probe = async () => undefined
  const damage = { fault: () => undefined, noteFailure: () => {}, stop: async () => {} }
  const watch = watchFiles({ files, probe, damage, log, background: openBackground() })
  const close = async () => {
    await watch.stop()
    await store.close()
  }
  return { path, watch, logged, looks: () => looks, close }
}

describe('a store whose files are watched', () => {
  for (const ending of ['', '-wal', '-shm']) {
    test(`is lost when its file *.db${ending} is deleted or replaced, until it is back`, async () => {
      using time = takeTime()
      const { path, watch, logged, looks, close } = openWatched(`lost${ending}.db`)
      await time.advance(limitNamed('storeLookMs') - 1)
      assert.equal(looks(), 0)
      await time.advance(1)
      assert.equal(looks(), 1)
      await watch.requireReady()
      const file = `${path}${ending}`
      const advice = 'mount its volume or restore it, then restart this server'
      renameSync(file, `${file}.away`)
      for (const [sentence, change] of [
        [`${file} is missing, but this process has it open; ${advice}`, () => {}],
        [
          `${file} was replaced by another file, but this process has the old one open; ${advice}`,
          () => writeFileSync(file, ''),
        ],
      ] as const) {
        change()
        await time.advance(limitNamed('storeLookMs'))
        for (const require of [watch.requireIntact, watch.confirmIntact]) {
          assert.throws(require, new StoreUnavailable(sentence))
        }
        await assert.rejects(watch.requireReady, new StoreUnavailable(sentence))
      }
      renameSync(`${file}.away`, file)
      await watch.requireReady()
      watch.confirmIntact()
      watch.requireIntact()
      assert.deepEqual(logged, [
        'the store is not ready',
        'the store is not ready',
        'the store is ready again',
      ])
      await close()
    })
  }

  test('is found lost by the next change that must be acknowledged, before the next look', async () => {
    const { path, watch, close } = openWatched('change.db')
    await watch.requireReady()
    rmSync(path)
    watch.requireIntact()
    assert.throws(watch.confirmIntact, StoreUnavailable)
    assert.throws(watch.requireIntact, StoreUnavailable)
    await close()
  })
})

test('the requests of one commit share a look, and those of the next one have their own', async () => {
  const { path, watch, looks, close } = openWatched('shared.db')
  const before = looks()
  const committed = Promise.resolve()
  await Promise.all(Array.from({ length: 64 }, () => committed.then(watch.confirmIntact)))
  assert.equal(looks() - before, 1)
  await turn()
  watch.confirmIntact()
  assert.equal(looks() - before, 2)
  await turn()
  rmSync(path)
  assert.throws(watch.confirmIntact, StoreUnavailable)
  await close()
})

describe('the write probe', () => {
  /** A probe over a writer in a thread, and another connection. */
  const openProbed = (t: TestContext, name: string) => {
    const path = join(folder, name)
    const other = openDatabase(path)
    other.exec('create table t (a); pragma user_version = 7')
    const writer = openThreadWriter(path, { clock: () => 0n })
    t.after(async () => {
      await writer.close()
      other.close()
    })
    return { path, other, probe: openWriteProbe(path, writer.transact) }
  }

  test('reports a lock that lasts, until it ends', async (t) => {
    setLimits(t, { storeLockedMs: 3000 })
    using time = takeTime()
    const { path, other, probe } = openProbed(t, 'locked.db')
    const reported = async () => {
      let isOver = false
      const pending = probe().finally(() => {
        isOver = true
      })
      // The thread answers each attempt in its own time.
      await untilHolds('the probe has ended', async () => {
        await time.advance(limitNamed('storeWriteProbeWaitMs'))
        return isOver
      })
      return await pending
    }
    assert.equal(await reported(), undefined)
    other.exec('begin immediate; insert into t values (1)')
    assert.equal(await reported(), undefined)
    await time.advance(limitNamed('storeLockedMs'))
    const report = new RegExp(
      `^another process has held the lock of ${path} for \\d+ s; end it, or wait$`,
    )
    assert.match(String(await reported()), report)
    other.exec('commit')
    assert.equal(await reported(), undefined)
    other.exec('begin immediate')
    assert.equal(await reported(), undefined, 'another lock')
  })

  test('writes a page at first and then every half minute, and changes nothing', async (t) => {
    using time = takeTime()
    const { other, probe } = openProbed(t, 'probed.db')
    const version = () => Number(other.prepare('pragma data_version').get()?.data_version)
    const before = version()
    const written: number[] = []
    for (const ms of [0, 1000, limitNamed('storeWriteProbeMs') - 1001, 1]) {
      await time.advance(ms)
      assert.equal(await probe(), undefined)
      written.push(version() - before)
    }
    assert.deepEqual(written, [1, 1, 1, 2])
    assert.equal(other.prepare('pragma user_version').get()?.user_version, 7)
  })
})

test('the first looks at a store wait for a process that has locked it', async () => {
  const name = join(folder, 'held')
  const paths = storePaths(`sqlite:${name}.db`)
  await openSqliteCredentials(paths.credentials).close()
  const holdFor = async (ms: number) => {
    const hold = `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1])
      db.exec('pragma locking_mode = exclusive; begin exclusive; create table t${ms} (a)')
      console.log('locked')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms})
      db.close()`
    const child = spawn(process.execPath, ['-e', hold, paths.credentials])
    await once(child.stdout, 'data')
  }
  await holdFor(300)
  assert.deepEqual(appliedSteps(paths.credentials), ['credentials'])
  await holdFor(100)
  assert.equal(isVacant(paths), false)
})

describe('the files of a prepared store', () => {
  const prepared = (name: string) => {
    const [store, staged] = [join(folder, name), join(folder, `${name}-staged`)]
    mkdirSync(store)
    mkdirSync(staged)
    const files = sqliteFiles(storePaths(`sqlite:${join(store, 'bursar.db')}`))
    const writers = files.names.map((file) => {
      const db = openDatabase(join(staged, file))
      db.exec('create table recovery (at integer) strict; insert into recovery values (7)')
      return db
    })
    const close = () => {
      for (const db of writers) db.close()
    }
    return { store, staged, files, close }
  }

  test('take what is still in their WAL to the places of the store', () => {
    const { store, staged, files, close } = prepared('merged')
    const copy = join(folder, 'merged-copy')
    cpSync(staged, copy, { recursive: true })
    close()
    assert.equal(files.replaceFrom(copy), true)
    assert.deepEqual(readdirSync(store).sort(), [...files.names].sort())
    for (const file of files.names) {
      const db = new DatabaseSync(join(store, file))
      assert.equal(db.prepare('select at from recovery').get()?.at, 7, file)
      db.close()
    }
  })

  test('do not move while their WAL cannot be merged, and nothing changes', () => {
    const { store, staged, files, close } = prepared('held')
    assert.throws(() => files.replaceFrom(staged), StoreUnavailable)
    assert.deepEqual(readdirSync(store), [])
    close()
    assert.equal(files.replaceFrom(staged), true)
  })
})

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { limitNamed, systemTime } from '@bursar/base'
import type { Store } from '@bursar/records'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { resourceOf, take } from '../../../test/support/record-store.ts'
import { anId, anIssuerQuote } from '../../../test/support/records.ts'
import { setLimits } from '../../../test/support/set-limits.ts'
import { settlesAfter } from '../../../test/support/settles-after.ts'
import { passingSeals, testSealing } from '../../../test/support/test-sealing.ts'
import { until } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { spaceFor } from '../src/import/disk-space.ts'
import { beginImport } from '../src/import/import-connection.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'

const folder = temporaryFolder()
const path = join(folder, 'records.db')
const kind = 'issuer-quote-executions'
let store: Store

before(() => {
  // The connection of a server, which stays open.
  store = openSqliteStore(path, systemTime.now, testSealing)
})
after(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

const quotes = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) =>
    anIssuerQuote({ id: anId(from + at), ref_id: `ref-${from + at}` }),
  )

/** The store with its own free space, as if its disk were small. */
const storeWith = (deps: Omit<Parameters<typeof beginImport>[2], 'clock' | 'seals'>): Store => ({
  ...store,
  operator: {
    ...store.operator,
    beginLoad: (resource) =>
      beginImport(path, resource, { clock: systemTime.now, seals: passingSeals(), ...deps }),
  },
})

const stored = () => store.operator.count(resourceOf(kind))

test('an import leaves no write-ahead log beside a server, done or refused', async () => {
  await take(store, kind, quotes(1, 500))
  assert.equal(statSync(`${path}-wal`).size, 0)
  const refused = await take(store, kind, [...quotes(900, 500), { id: 'no' }])
  assert.equal(refused.faults.length > 0, true)
  assert.equal(statSync(`${path}-wal`).size, 0)
})

test('an import waits for the merge of another, and then says so in one sentence', async (t) => {
  setLimits(t, { storeLockWaitMs: 1000 })
  const other = new DatabaseSync(path)
  const before = await stored()
  other.exec('begin immediate')
  using time = takeTime()
  const takeBesideLock = async () => {
    const taken = take(store, kind, quotes(2000, 1))
    // It waits for the lock.
    await until(() => time.waiting() === 1)
    return { taken }
  }
  const { taken: refused } = await takeBesideLock()
  await assert.rejects(settlesAfter(time, 1000, refused, limitNamed('storeRetryMsMax')), {
    name: 'StoreUnavailable',
    message: `another process, such as an import, has written ${path} for 1 s; nothing was changed; wait until it has ended, then run this again`,
  })
  const { taken } = await takeBesideLock()
  await time.advance(500)
  other.exec('commit')
  await time.advance(limitNamed('storeRetryMsMax'))
  assert.equal((await taken).added, 1)
  other.close()
  assert.equal(await stored(), before + 1)
})

test('an import that does not fit on the disk is refused, with both figures', async () => {
  const before = await stored()
  const freeBytes = () => 2_000_000_000
  await assert.rejects(
    take(storeWith({ freeBytes, fileBytes: 4_000_000_000 }), kind, quotes(3000, 1)),
    (error: Error) => {
      assert.equal(error.name, 'StoreUnavailable')
      assert.match(
        error.message,
        /needs about \d+\.\d GB of free disk space in .*, which has 2\.0 GB/,
      )
      assert.ok(error.message.includes(folder))
      return true
    },
  )
  await take(storeWith({ freeBytes, fileBytes: 1_000_000 }), kind, quotes(3000, 1))
  assert.equal(await stored(), before + 1)
})

test('what comes from a pipe is refused once the disk has less room than it has staged', () => {
  const megabyte = 'x'.repeat(1024 * 1024)
  const piped = (count: number) => () => {
    const space = spaceFor(path, 0, () => 60_000_000)
    for (let at = 0; at < count; at += 1) space.add({ stored: megabyte, masked: null })
  }
  piped(50)()
  assert.throws(piped(70), {
    name: 'StoreUnavailable',
    message:
      /needs about 67\.1 MB of free disk space in .*, which has 60\.0 MB; nothing was changed/,
  })
})

test('a merge is refused for what it writes, so the same file again needs no space', async () => {
  const before = await stored()
  const [added, fullDisk] = [quotes(7000, 200), storeWith({ freeBytes: () => 100_000 })]
  await assert.rejects(take(fullDisk, kind, added), /needs about 0\.\d MB .*, which has 0\.1 MB/)
  assert.equal(await stored(), before)
  await take(store, kind, added)
  assert.equal((await take(fullDisk, kind, added)).unchanged, 200)
})

test('neither an import nor the walk makes a records file where the store has vanished', async () => {
  const volume = join(folder, 'volume')
  const lost = join(volume, 'records.db')
  const vanishing = openSqliteStore(lost, systemTime.now, testSealing)
  for (const leave of ['folder', 'nothing']) {
    rmSync(volume, { recursive: true })
    if (leave === 'folder') mkdirSync(volume, { mode: 0o700 })
    const missing = { name: 'StoreUnavailable', message: `${lost} is missing` }
    await assert.rejects(take(vanishing, kind, quotes(1, 1)), missing)
    await assert.rejects(vanishing.damage.walkedRows.owners(0n, 1), missing)
    assert.equal(existsSync(lost), false)
    mkdirSync(volume, { recursive: true, mode: 0o700 })
  }
  await vanishing.close()
})

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { limitNamed, openBackground } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { turn } from '../../../test/support/until.ts'
import { takeTime, type VirtualTime } from '../../../test/support/virtual-time.ts'
import type { Servers } from '../../postgres/src/cluster/servers.ts'
import { changesOf as changesOnPostgres } from '../../postgres/src/records/listen-for-changes.ts'
import { changesOf } from '../../sqlite/src/records/look-for-changes.ts'
import { openReads } from '../../sqlite/src/session.ts'
import { type ChangeSource, openChangeWatch } from '../src/change-watch.ts'

const acme = asTenant('acme')
const present = new AbortController().signal

/** Waits for a first change, and notes after how long the wait has ended with what. */
function waitFrom(time: VirtualTime, source: ChangeSource, forMs = 60_000, left = present) {
  const begunAt = time.elapsedMs()
  const watch = openChangeWatch(source, openBackground())
  const wait = watch.begin(acme, begunAt + forMs, left)
  const ended: { isChanged: boolean; afterMs: number }[] = []
  void wait.until(0n).then((isChanged) => {
    ended.push({ isChanged, afterMs: time.elapsedMs() - begunAt })
  })
  return { watch, wait, ended }
}

describe('a reader that waits for changes', () => {
  const silent: ChangeSource = {
    everyMs: limitNamed('readersLookMs'),
    count: async () => new Map(),
  }
  const looks = 4 * limitNamed('readersLookMs')

  for (const [when, forMs, afterMs] of [
    ['at the end of its time', looks, looks],
    ['at most a look before it', looks - 1, looks - limitNamed('readersLookMs')],
  ] as const) {
    test(`is answered ${when}`, async () => {
      using time = takeTime()
      const { wait, ended } = waitFrom(time, silent, forMs)
      await time.advance(afterMs - 1)
      assert.deepEqual([ended, wait.over.aborted], [[], false])
      await time.advance(1)
      assert.deepEqual([ended, wait.over.aborted], [[{ isChanged: false, afterMs }], true])
      wait.end()
      assert.equal(time.waiting(), 0, 'nobody is left to look for')
    })
  }

  test('hears of any customer if it names none, announced or found by a look', async () => {
    using time = takeTime()
    let announce = (_names: readonly string[] | undefined) => {}
    const announced = openChangeWatch(
      {
        ...silent,
        listen: (changed) => {
          announce = changed
          return () => {}
        },
      },
      openBackground(),
    )
    const looks = { mayHaveChanged: () => true }
    const looked = openChangeWatch({ ...silent, looks }, openBackground())
    for (const [watch, change] of [
      [announced, () => announce(['borealis'])],
      [announced, () => announce(undefined)],
      [looked, () => time.advance(limitNamed('readersLookMs'))],
    ] as const) {
      const wait = watch.begin(undefined, time.elapsedMs() + 60_000, present)
      const changed = wait.until(0n)
      assert.equal(watch.waiting(), 1)
      await change()
      assert.equal(await changed, true)
      wait.end()
    }
    assert.equal(time.waiting(), 0, 'nobody is left to look for')
  })

  test('is released at once when it leaves, or when the store closes', async () => {
    using time = takeTime()
    const left = new AbortController()
    const leaving = waitFrom(time, silent, 60_000, left.signal)
    left.abort()
    const { watch, ended } = waitFrom(time, silent)
    watch.stop()
    await turn()
    const released = [{ isChanged: false, afterMs: 0 }]
    assert.deepEqual([leaving.ended, ended], [released, released])
    leaving.wait.end()
    assert.equal(time.waiting(), 0)
  })

  test('hears of the commit of another SQLite connection at the next look', async () => {
    const path = join(temporaryFolder(), 'changes.db')
    using writer = new DatabaseSync(path)
    writer.exec(`pragma journal_mode = wal; create table customer (id text, changes integer);
      insert into customer values ('acme', 0)`)
    using reader = new DatabaseSync(path)
    using time = takeTime()
    const source = changesOf((sql) => reader.prepare(sql), openReads(reader))
    const { watch, ended } = waitFrom(time, source)
    await time.advance(limitNamed('storeChangesLookMs'))
    writer.exec('update customer set changes = 1')
    await time.advance(limitNamed('storeChangesLookMs') - 1)
    assert.deepEqual(ended, [])
    await time.advance(1)
    assert.deepEqual(ended, [{ isChanged: true, afterMs: 2 * limitNamed('storeChangesLookMs') }])
    watch.stop()
  })

  test('has its versions counted every second behind a pooler, where nothing is announced', async () => {
    using time = takeTime()
    const rows = async () => [{ customer_id: 'acme', changes: 1n }]
    const source = changesOnPostgres({ pooler: 'transaction', rows } as unknown as Servers)
    const { watch, ended } = waitFrom(time, source)
    await time.advance(limitNamed('databaseChangesLookMs') - 1)
    assert.deepEqual(ended, [])
    await time.advance(1)
    assert.deepEqual(ended, [{ isChanged: true, afterMs: limitNamed('databaseChangesLookMs') }])
    watch.stop()
  })
})

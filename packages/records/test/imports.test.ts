import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { sealAnswer } from '@bursar/base'
import { countsOf } from '@bursar/intake'
import { isLong } from '../../../test/support/long.ts'
import { openTestStore, type TestStore, take } from '../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { testStore } from '../../../test/support/test-database.ts'
import { openTestSealing } from '../../../test/support/test-sealing.ts'
import { turn, untilHolds } from '../../../test/support/until.ts'
import {
  ImportCancelled,
  type ImportsPart,
  type NewImport,
  type RunningImport,
} from '../src/imports.ts'
import type { Store } from '../src/records.ts'
import { NothingChanged } from '../src/unavailable.ts'

const hours = (count: number): bigint => BigInt(count) * 3_600_000_000n
const noon = BigInt(Date.parse('2026-11-23T12:00:00Z')) * 1000n

const aStream: NewImport = {
  kind: 'fiat-accounts',
  importer: { clientId: 'core' },
  boundTo: undefined,
}
const aFile: NewImport = {
  ...aStream,
  importer: { user: 'ada', sudoUser: 'grace', file: 'day-1.ndjson', files: 3 },
  boundTo: 'acme',
}
const everything: ImportsPart = {
  state: undefined,
  kind: undefined,
  ofClientsOf: undefined,
  after: undefined,
  importsMax: 100,
}
const SHA = 'c0'.repeat(32)
const accounts = (first: number, count = 2) =>
  Array.from({ length: count }, (_, at) => aFiatAccount({ id: anId(first + at) }))

type Opened = TestStore & { setClock(at: bigint): void }

async function openWithClock(t: TestContext): Promise<Opened> {
  let at = noon
  const opened = await openTestStore(() => at)
  t.after(opened.close)
  return {
    ...opened,
    setClock: (now) => {
      at = now
    },
  }
}

/** What a merge writes of an import. */
const rowOf =
  ({ row }: RunningImport, answer?: string) =>
  (report: Parameters<typeof countsOf>[0]) => ({
    id: row.id,
    counts: countsOf(report),
    digests: undefined,
    answer: answer && sealAnswer(row.answerKey, row.id, answer),
  })

const idsOf = async ({ imports }: Store, part: Partial<ImportsPart> = {}) =>
  (await imports.list({ ...everything, ...part })).map(({ id }) => id)

const stateOf = async ({ imports }: Store, { row }: RunningImport) =>
  (await imports.find(row.id, undefined))?.state

const recordsIn = async (opened: TestStore) => (await opened.exported('fiat-accounts')).length

describe('an import', () => {
  test('is a row from its beginning, which its merge ends with its records', async (t) => {
    const opened = await openWithClock(t)
    const { imports } = opened.store
    const running = await imports.begin(aFile)
    const { id } = running.row
    const begun = (await imports.find(id, undefined)) ?? assert.fail()
    const { startedAt, role: _role, ...listed } = begun
    const none = { counts: undefined, reason: undefined, cancelRequestedAt: undefined }
    assert.deepEqual(listed, { ...aFile, id, state: 'running', endedAt: undefined, ...none })
    assert.equal(startedAt, noon)
    opened.setClock(noon + hours(1))
    await opened.take('fiat-accounts', accounts(1), { row: rowOf(running) })
    running.end()
    const stored = await imports.find(id, undefined)
    const counts = { records: 2, added: 2, changed: 0, unchanged: 0, rejected: 0, withdrawn: 0 }
    assert.deepEqual(stored, { ...begun, state: 'stored', counts, endedAt: noon + hours(1) })
    const again = await imports.begin(aFile)
    const withFault = [...accounts(1), { id: 'no id' }]
    const options = { row: rowOf(again), reject: () => {}, expected: { rejectedMax: 1 } }
    await opened.take('fiat-accounts', withFault, options)
    again.end()
    const inPart = await imports.find(again.row.id, undefined)
    assert.deepEqual([inPart?.state, inPart?.counts?.rejected], ['stored_in_part', 1])
    assert.deepEqual(
      (await imports.count()).toSorted((a, b) => (a.state < b.state ? -1 : 1)),
      [
        { state: 'stored', imports: 1 },
        { state: 'stored_in_part', imports: 1 },
      ],
    )
  })

  test('that has stored nothing says why, and no merge stores it later', async (t) => {
    const opened = await openWithClock(t)
    const running = await opened.store.imports.begin(aStream)
    const row = await running.fail({ state: 'refused', reason: '1 fault' })
    assert.deepEqual([row.state, row.reason, row.endedAt], ['refused', '1 fault', noon])
    const late = opened.take('fiat-accounts', accounts(1), { row: rowOf(running) })
    await assert.rejects(late, NothingChanged)
    assert.equal(await recordsIn(opened), 0)
  })

  test('is not failed once its merge is committed', async (t) => {
    const opened = await openWithClock(t)
    const running = await opened.store.imports.begin(aStream)
    await opened.take('fiat-accounts', accounts(1), { row: rowOf(running) })
    const row = await running.fail({ state: 'refused', reason: 'its process has ended' })
    assert.deepEqual([row.state, row.counts?.added, row.reason], ['stored', 2, undefined])
  })

  test('is lost as soon as its process has died, and no merge stores it later', async (t) => {
    const opened = await openWithClock(t)
    const dying = opened.opened(openTestSealing())
    const running = await dying.imports.begin(aStream)
    assert.equal(await stateOf(opened.store, running), 'running')
    // The system releases the lock of a process that dies.
    dying.imports.close()
    await untilHolds('it is lost', async () => (await stateOf(opened.store, running)) === 'lost')
    const late = take(dying, 'fiat-accounts', accounts(1), { row: rowOf(running) })
    await assert.rejects(late, /was taken for lost, so nothing was stored/)
    assert.equal(await recordsIn(opened), 0)
    assert.equal((await opened.store.imports.cancel(running.row.id, undefined)).outcome, 'ended')
  })
})

describe('a cancellation', () => {
  test('ends an import of the same process at once, and its merge', async (t) => {
    const opened = await openWithClock(t)
    const { imports } = opened.store
    const running = await imports.begin(aStream)
    const asked = await imports.cancel(running.row.id, undefined)
    assert.ok(asked.outcome === 'cancelling')
    assert.equal(asked.found.cancelRequestedAt, noon)
    assert.ok(running.signal.reason instanceof ImportCancelled)
    opened.setClock(noon + 1n)
    const again = await imports.cancel(running.row.id, undefined)
    assert.ok(again.outcome === 'cancelling')
    assert.equal(again.found.cancelRequestedAt, noon)
    const merged = opened.take('fiat-accounts', accounts(1), { row: rowOf(running) })
    await assert.rejects(merged, ImportCancelled)
    assert.equal(await recordsIn(opened), 0)
    const reason = 'the import was cancelled'
    assert.equal((await running.fail({ state: 'cancelled', reason })).state, 'cancelled')
    assert.equal((await imports.cancel(running.row.id, undefined)).outcome, 'ended')
  })

  test('that meets the merge at any moment agrees with the store', async (t) => {
    const opened = await openWithClock(t)
    const other = opened.opened(openTestSealing())
    const races = isLong ? 200 : 20
    // A merge on PostgreSQL waits for its server, while the loop turns.
    const turnsMax = testStore === 'postgres' ? 8000 : 600
    const seen = new Set<string>()
    for (let race = 0; race < races; race += 1) {
      const running = await opened.store.imports.begin(aStream)
      const { id } = running.row
      const merging = opened
        .take('fiat-accounts', accounts(10 * race, 3), { row: rowOf(running) })
        .catch(async (error: unknown) => {
          assert.ok(error instanceof ImportCancelled, String(error))
          await running.fail({ state: 'cancelled', reason: 'the import was cancelled' })
        })
      for (let turns = randomInt(turnsMax); turns > 0; turns -= 1) await turn()
      const cancelled = await other.imports.cancel(id, undefined)
      await merging
      running.end()
      const { state } = (await other.imports.find(id, undefined)) ?? assert.fail()
      const stored = await opened.ask(
        `select 1 from bursar.fiat_account_full where id = '${anId(10 * race + 2)}'`,
      )
      assert.deepEqual(
        [state, stored.length],
        state === 'stored' ? ['stored', 1] : ['cancelled', 0],
      )
      if (state === 'stored') assert.equal(cancelled.outcome, 'ended')
      seen.add(state)
    }
    t.diagnostic([...seen].join(' and '))
  })

  test('reaches an import of another process', async (t) => {
    const opened = await openWithClock(t)
    const other = opened.opened(openTestSealing())
    const running = await opened.store.imports.begin(aStream)
    assert.equal((await other.imports.cancel(running.row.id, undefined)).outcome, 'cancelling')
    await untilHolds('it has heard', () => running.signal.reason instanceof ImportCancelled)
  })

  test('knows no import with another id, or of others to a bound client', async (t) => {
    const { store } = await openWithClock(t)
    const own = await store.imports.begin({ ...aStream, boundTo: 'acme' })
    const others = [
      await store.imports.begin({ ...aStream, boundTo: 'borealis' }),
      await store.imports.begin(aStream),
      await store.imports.begin(aFile),
    ]
    assert.deepEqual(await idsOf(store, { ofClientsOf: 'acme' }), [own.row.id])
    for (const { row, signal } of others) {
      assert.deepEqual(await store.imports.cancel(row.id, 'acme'), { outcome: 'unknown' })
      assert.equal(signal.aborted, false)
    }
    const id = '01a2004b-4abc-726b-9ad9-09f8eb63e348'
    assert.deepEqual(await store.imports.cancel(id, undefined), { outcome: 'unknown' })
  })
})

test('a list has the newest first, in pages, and takes filters', async (t) => {
  const { store } = await openWithClock(t)
  const ids: string[] = []
  for (const [at, kind] of ['statements', 'fiat-accounts', 'statements', 'statements'].entries()) {
    const running = await store.imports.begin({ ...aStream, kind })
    if (at > 1) await running.fail({ state: 'refused', reason: 'a fault' })
    ids.push(running.row.id)
  }
  const [a, b, c, d] = ids
  assert.deepEqual(await idsOf(store), [d, c, b, a])
  assert.deepEqual(await idsOf(store, { importsMax: 2 }), [d, c])
  assert.deepEqual(await idsOf(store, { importsMax: 2, after: c ?? '' }), [b, a])
  assert.deepEqual(await idsOf(store, { kind: 'statements' }), [d, c, a])
  assert.deepEqual(await idsOf(store, { state: 'refused' }), [d, c])
  assert.deepEqual(await idsOf(store, { state: 'running', kind: 'statements' }), [a])
  assert.deepEqual(await idsOf(store, { state: 'lost' }), [])
})

describe('a request with an idempotency key', () => {
  const keyed = (request = 'POST /a') => ({ key: 'file-1', request })
  const begin = async ({ imports }: Store, request?: string, entry = aStream) => {
    const begun = await imports.beginOnce(entry, [SHA], keyed(request))
    return 'is' in begun ? assert.fail(begun.is) : begun
  }
  const earlier = async ({ imports }: Store, request?: string) => {
    const found = await imports.beginOnce(aStream, [SHA], keyed(request))
    return 'is' in found ? found : assert.fail('it has begun')
  }

  test('has one import, whose answer it gets again, and no other request does', async (t) => {
    const opened = await openWithClock(t)
    const { store } = opened
    const running = await begin(store)
    assert.equal((await earlier(store)).is, 'running')
    await opened.take('fiat-accounts', accounts(1), { row: rowOf(running, '{"added":2}') })
    running.end()
    const stored = { is: 'stored', id: running.row.id, answer: '{"added":2}' }
    assert.deepEqual(await earlier(store), stored)
    assert.equal((await earlier(store, 'POST /b')).is, 'another')
    const ofOther = await begin(store, 'POST /a', { ...aStream, importer: { clientId: 'other' } })
    assert.notEqual(ofOther.row.id, running.row.id)
    opened.setClock(noon + hours(23))
    assert.deepEqual(await earlier(store), stored)
    opened.setClock(noon + hours(25))
    await begin(store)
  })

  test('of two at the same time one begins', async (t) => {
    const { store } = await openWithClock(t)
    const begun = await Promise.all(
      [1, 2, 3].map(() => store.imports.beginOnce(aStream, [SHA], keyed())),
    )
    assert.equal(begun.filter((each) => 'is' in each && each.is === 'running').length, 2)
  })

  test('runs again after one that has stored nothing, or was lost', async (t) => {
    const opened = await openWithClock(t)
    const failed = await begin(opened.store)
    await failed.fail({ state: 'refused', reason: 'a fault' })
    const dying = opened.opened(openTestSealing())
    await begin(dying)
    dying.imports.close()
    await untilHolds('the lock is free', async () => {
      const begun = await opened.store.imports.beginOnce(aStream, [SHA], keyed())
      return !('is' in begun)
    })
  })

  test('and its answer are emptied after a day, and the row after its time', async (t) => {
    const opened = await openWithClock(t)
    const { store } = opened
    const running = await begin(store)
    await opened.take('fiat-accounts', accounts(1), { row: rowOf(running, '{}') })
    running.end()
    const kept = () => opened.ask('select idempotency_key, fingerprint, answer from bursar.import')
    opened.setClock(noon + hours(23))
    await store.imports.forget(2)
    assert.equal((await kept())[0]?.[0], 'file-1')
    opened.setClock(noon + hours(25))
    await store.imports.forget(2)
    assert.deepEqual(await kept(), [[null, null, null]])
    opened.setClock(noon + hours(49))
    await store.imports.forget(2)
    assert.deepEqual(await kept(), [])
  })
})

test('a file is found by its content, under each key, and no row has its plain digest', async (t) => {
  const opened = await openWithClock(t)
  const sealing = openTestSealing()
  const store = opened.opened(sealing)
  const first = await store.imports.begin(aStream, [SHA])
  sealing.renew('import')
  const second = await store.imports.begin(aFile)
  const digests = ['d1'.repeat(32), SHA].map(second.digestOf)
  await take(store, 'fiat-accounts', accounts(1), {
    row: (report) => ({ ...rowOf(second)(report), digests }),
  })
  const found = await store.imports.findFile(SHA, 10)
  assert.deepEqual(
    found.map(({ id }) => id),
    [second.row.id, first.row.id],
  )
  assert.deepEqual(await store.imports.findFile('ee'.repeat(32), 10), [])
  const rows = JSON.stringify(await opened.ask('select digests from bursar.import'))
  assert.doesNotMatch(rows, /c0c0|d1d1/)
})

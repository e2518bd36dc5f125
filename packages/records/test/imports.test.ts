import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { limitNamed, openBackground, openLog } from '@bursar/base'
import { newStorePlace, type StorePlace } from '../../../test/support/store-place.ts'
import { testStore } from '../../../test/support/test-database.ts'
import { untilHolds } from '../../../test/support/until.ts'
import { dialect as postgresDialect } from '../../postgres/src/dialect.ts'
import { dialect } from '../../sqlite/src/dialect.ts'
import { type ImportSessions, openImports } from '../src/imports/open-imports.ts'
import {
  ImportCancelled,
  type ImportRegistry,
  type ImportsPart,
  type NewImport,
} from '../src/imports.ts'
import { StoreUnavailable } from '../src/unavailable.ts'

const noon = BigInt(Date.parse('2026-11-23T12:00:00Z')) * 1000n
const seconds = (count: number): bigint => BigInt(count) * 1_000_000n

const aStream: NewImport = {
  kind: 'statements',
  importer: { clientId: 'core' },
  boundTo: undefined,
  isDryRun: false,
}
const aFile: NewImport = {
  ...aStream,
  importer: { user: 'ada', sudoUser: 'grace', file: 'day-1.ndjson', files: 3 },
  boundTo: 'acme',
  isDryRun: true,
}
const counts = { added: 1, changed: 2, unchanged: 3, rejected: 4, withdrawn: 5 }

const everything: ImportsPart = {
  state: undefined,
  kind: undefined,
  ofClientsOf: undefined,
  after: undefined,
  importsMax: 100,
}

async function newRegistry(
  t: TestContext,
): Promise<{ place: StorePlace; registry: ImportRegistry }> {
  const place = await newStorePlace(t)
  await place.setClock(noon)
  return { place, registry: await place.openImports() }
}

const idsOf = async (registry: ImportRegistry, part: Partial<ImportsPart> = {}) =>
  (await registry.list({ ...everything, ...part })).map(({ id }) => id)

const only = async (registry: ImportRegistry) => {
  const found = await registry.list(everything)
  assert.equal(found.length, 1)
  const [{ startedAt, updatedAt, endedAt, ...rest } = assert.fail()] = found
  return { ...rest, times: { startedAt, updatedAt, endedAt } }
}

/** Runs SQL past the registry. */
async function runPast({ where, ask }: StorePlace, sql: string): Promise<void> {
  if (testStore === 'postgres') return void (await ask(sql))
  using db = new DatabaseSync(where)
  db.exec(sql.replaceAll('bursar.', '').replaceAll('::uuid', ''))
}

/** The number of the lock of the newest import. */
async function lockOf(place: StorePlace): Promise<string | null> {
  const newest = 'select lock_number from bursar.import_registry order by id desc limit 1'
  if (testStore === 'postgres') return (await place.ask(newest))[0]?.[0] ?? null
  using db = new DatabaseSync(place.where)
  const { lock_number: number } = db.prepare(newest.replace('bursar.', '')).get() ?? {}
  return number === null ? null : String(number)
}

async function isHeld(place: StorePlace, number: string | null): Promise<boolean> {
  if (testStore === 'sqlite') {
    return readdirSync(dirname(place.where)).some((name) => name.includes(`import-${number}.`))
  }
  const held = postgresDialect.isImportLockHeld(`${number}::bigint`)
  return (await place.ask(`select ${held}`))[0]?.[0] === 't'
}

describe('an import in the registry', () => {
  test('is listed with what it has noted, from its beginning to its end', async (t) => {
    const { registry } = await newRegistry(t)
    const running = registry.begin(aFile)
    const listed = {
      ...aFile,
      id: running.id,
      waitsFor: undefined,
      recordsRead: 0,
      records: undefined,
      counts: undefined,
      reason: undefined,
      cancelRequestedAt: undefined,
    }
    const { times, ...begun } = await only(registry)
    assert.deepEqual(begun, { ...listed, state: 'reading' })
    assert.ok(times.startedAt <= noon && times.startedAt > noon - seconds(60))
    assert.deepEqual([times.updatedAt, times.endedAt], [noon, undefined])
    running.wait('slot')
    const { times: _waited, ...waiting } = await only(registry)
    assert.deepEqual(waiting, { ...listed, state: 'waiting', waitsFor: 'slot' })
    running.enter('receiving')
    running.progress(7)
    const { times: _read, ...reading } = await only(registry)
    assert.deepEqual(reading, { ...listed, state: 'receiving', recordsRead: 7 })
    for (const state of ['checking', 'merging'] as const) {
      running.enter(state)
      const { times: _merged, ...merging } = await only(registry)
      assert.deepEqual(merging, { ...listed, state, recordsRead: 7, records: 7 })
    }
    // All of it was read before it waited.
    running.wait('store_lock')
    assert.equal((await only(registry)).records, 7)
    running.end({ state: 'stored', counts })
    running.end({ state: 'failed', reason: 'too late' })
    const { times: ended, ...stored } = await only(registry)
    assert.deepEqual(stored, { ...listed, state: 'stored', recordsRead: 7, records: 7, counts })
    assert.ok(ended.endedAt !== undefined && ended.endedAt > noon - seconds(60))
  })

  test('keeps why it ended, where it stored nothing', async (t) => {
    const { registry } = await newRegistry(t)
    for (const state of ['refused', 'failed', 'cancelled'] as const) {
      registry.begin(aStream).end({ state, reason: `it was ${state}` })
      const [found] = await registry.list(everything)
      assert.deepEqual([found?.state, found?.reason], [state, `it was ${state}`])
    }
    registry.begin(aStream).end({ state: 'answered_before' })
    const [repeated] = await registry.list(everything)
    assert.deepEqual([repeated?.state, repeated?.reason], ['answered_before', undefined])
  })

  test('is seen by another process, and outlives its own', async (t) => {
    const { place, registry } = await newRegistry(t)
    const other = await place.openImports()
    const running = registry.begin(aStream)
    await registry.list(everything)
    assert.deepEqual(await idsOf(other), [running.id])
    running.end({ state: 'stored', counts })
    await registry.close()
    assert.equal((await only(other)).state, 'stored')
  })

  test('is lost as soon as nobody holds its lock, and is found again when its process writes', async (t) => {
    const { place, registry } = await newRegistry(t)
    const other = await place.openImports()
    const running = registry.begin(aStream)
    await registry.list(everything)
    // However long it has nothing to write.
    await place.setClock(noon + seconds(86_400))
    assert.equal((await only(other)).state, 'reading')
    const held = await lockOf(place)
    // As of a process that was killed, and of a version without locks.
    for (const lock of ['1', 'null']) {
      await runPast(place, `update bursar.import_registry set lock_number = ${lock}`)
      const { state, times } = await only(other)
      assert.deepEqual([state, times.endedAt], ['lost', undefined])
      assert.deepEqual(await idsOf(other, { state: 'lost' }), [running.id])
      assert.deepEqual(await idsOf(other, { state: 'reading' }), [])
      assert.equal((await other.cancel(running.id, undefined)).outcome, 'ended')
      assert.deepEqual(await other.count(), [{ state: 'lost', waitsFor: undefined, imports: 1 }])
    }
    // Its process has seen that others count it as lost.
    await registry.list(everything)
    await registry.list(everything)
    assert.equal((await only(other)).state, 'reading')
    running.enter('checking')
    await registry.list(everything)
    assert.equal((await only(other)).state, 'checking')
    assert.deepEqual(await idsOf(other, { state: 'checking' }), [running.id])
    assert.equal(await lockOf(place), held)
  })

  test('is written when something has changed, and not to say that its process lives', async (t) => {
    const { place, registry } = await newRegistry(t)
    const running = registry.begin(aStream)
    await registry.list(everything)
    await place.setClock(noon + seconds(5))
    assert.equal((await only(registry)).times.updatedAt, noon)
    running.progress(1)
    assert.equal((await only(registry)).times.updatedAt, noon + seconds(5))
  })

  test('has a lock of its own time, which its end frees', async (t) => {
    const { place, registry } = await newRegistry(t)
    const [first, second] = [registry.begin(aStream), registry.begin(aFile)]
    await registry.list(everything)
    const held = await lockOf(place)
    assert.notEqual(held, null)
    first.end({ state: 'stored', counts })
    await registry.list(everything)
    assert.equal(await isHeld(place, held), true)
    second.end({ state: 'stored', counts })
    await registry.list(everything)
    await untilHolds('it is free', async () => !(await isHeld(place, held)))
    registry.begin(aStream)
    await registry.list(everything)
    assert.notEqual(await lockOf(place), held)
  })
})

const testFiles = testStore === 'sqlite' ? test : () => {}

testFiles(
  'an import whose lock cannot be looked at, as that of another user, is not lost',
  async (t) => {
    const { place, registry } = await newRegistry(t)
    registry.begin(aStream)
    await registry.list(everything)
    await runPast(place, 'update import_registry set lock_number = 7')
    mkdirSync(place.where.replace(/db$/, 'import-7.lock'))
    assert.equal((await only(await place.openImports())).state, 'reading')
  },
)

test('the ends of imports are written while the lock of those that run cannot be had', async (t) => {
  const written: unknown[] = []
  const registry = openImports({
    dialect,
    background: openBackground(),
    log: openLog('silent'),
    lock: { hold: () => Promise.reject(new StoreUnavailable('no session')), release: () => {} },
    rows: async () => [],
    write: async ({ values = [] }) => {
      written.push(values[0])
      return []
    },
  })
  t.after(registry.close)
  registry.begin(aStream)
  const ended = registry.begin(aStream)
  ended.end({ state: 'stored', counts })
  await registry.written()
  assert.deepEqual(written, [ended.id])
})

describe('a list of imports', () => {
  test('has the newest first, in pages, and takes filters', async (t) => {
    const { registry } = await newRegistry(t)
    const begun = ['statements', 'fiat-accounts', 'statements', 'statements'].map((kind, at) => {
      const running = registry.begin({ ...aStream, kind })
      if (at > 1) running.end({ state: 'stored', counts })
      return running.id
    })
    const [a, b, c, d] = begun
    assert.deepEqual(await idsOf(registry), [d, c, b, a])
    assert.deepEqual(await idsOf(registry, { importsMax: 2 }), [d, c])
    assert.deepEqual(await idsOf(registry, { importsMax: 2, after: c ?? '' }), [b, a])
    assert.deepEqual(await idsOf(registry, { kind: 'statements' }), [d, c, a])
    assert.deepEqual(await idsOf(registry, { state: 'stored' }), [d, c])
    assert.deepEqual(await idsOf(registry, { state: 'reading', kind: 'statements' }), [a])
    assert.deepEqual(await idsOf(registry, { state: 'merging' }), [])
  })

  test('for a bound client has the imports of clients of its customer, and no files', async (t) => {
    const { registry } = await newRegistry(t)
    const own = registry.begin({ ...aStream, boundTo: 'acme' })
    const others = [
      registry.begin({ ...aStream, boundTo: 'borealis' }),
      registry.begin(aStream),
      registry.begin(aFile),
    ]
    assert.deepEqual(await idsOf(registry, { ofClientsOf: 'acme' }), [own.id])
    for (const { id, signal } of others) {
      assert.deepEqual(await registry.cancel(id, 'acme'), { outcome: 'unknown' })
      assert.equal(signal.aborted, false)
    }
    assert.equal((await registry.cancel(own.id, 'acme')).outcome, 'cancelling')
  })
})

describe('a cancellation', () => {
  test('ends an import of the same process at once', async (t) => {
    const { registry } = await newRegistry(t)
    const running = registry.begin(aStream)
    const asked = await registry.cancel(running.id, undefined)
    assert.ok(asked.outcome === 'cancelling')
    assert.equal(asked.found.cancelRequestedAt, noon)
    assert.ok(running.signal.reason instanceof ImportCancelled)
  })

  test('reaches an import of another process within a second, and may be repeated', async (t) => {
    const { place, registry } = await newRegistry(t)
    const other = await place.openImports()
    const running = registry.begin(aStream)
    await registry.list(everything)
    assert.equal((await other.cancel(running.id, undefined)).outcome, 'cancelling')
    assert.equal(running.signal.aborted, false)
    await registry.list(everything)
    assert.ok(running.signal.reason instanceof ImportCancelled)
    await place.setClock(noon + seconds(5))
    const again = await other.cancel(running.id, undefined)
    assert.ok(again.outcome === 'cancelling')
    assert.equal(again.found.cancelRequestedAt, noon)
    running.end({ state: 'cancelled', reason: 'the import was cancelled' })
    const late = await registry.cancel(running.id, undefined)
    assert.ok(late.outcome === 'ended')
    assert.deepEqual([late.found.state, late.found.cancelRequestedAt], ['cancelled', noon])
  })

  test('knows no import with another id', async (t) => {
    const { registry } = await newRegistry(t)
    registry.begin(aStream)
    const id = '01a2004b-4abc-726b-9ad9-09f8eb63e348'
    assert.deepEqual(await registry.cancel(id, undefined), { outcome: 'unknown' })
  })
})

describe('what the registry keeps', () => {
  const anOldId = (at: string) => `('00000000-0000-7000-8000-' || ${at})::uuid`

  test('ends after a month', async (t) => {
    const { place, registry } = await newRegistry(t)
    registry.begin(aStream).end({ state: 'stored', counts })
    await registry.close()
    await place.setClock(noon + seconds(86_400 * limitNamed('importKeptDays')))
    assert.equal((await idsOf(await place.openImports())).length, 1)
    await place.setClock(noon + seconds(86_400 * (limitNamed('importKeptDays') + 1)))
    const later = await place.openImports()
    const { id } = later.begin(aStream)
    assert.deepEqual(await idsOf(later), [id])
  })

  test('is bounded by a number, beyond which the oldest are forgotten', async (t) => {
    const { place, registry } = await newRegistry(t)
    const surplus = 40
    await runPast(
      place,
      `with recursive old (at) as (
         select 1 union all select at + 1 from old where at < ${limitNamed('importsKeptMax') + surplus})
       insert into bursar.import_registry
         (id, kind, client_id, dry_run, state, records_read, started_at, updated_at, ended_at)
       select ${anOldId('cast(100000000000 + at as text)')}, 'statements', 'core',
         ${testStore === 'postgres' ? 'false' : '0'}, 'stored', 1, ${noon}, ${noon}, ${noon}
       from old`,
    )
    registry.begin(aStream).end({ state: 'stored', counts })
    const kept = await idsOf(registry, { importsMax: 20_000 })
    assert.equal(kept.length, limitNamed('importsKeptMax'))
    const first = 100_000_000_000 + surplus + 2
    assert.equal(kept.at(-1), `00000000-0000-7000-8000-${first}`)
  })

  test('is nothing after it was cleared', async (t) => {
    const { registry } = await newRegistry(t)
    registry.begin(aStream).end({ state: 'stored', counts })
    await registry.clear()
    assert.deepEqual(await registry.list(everything), [])
  })
})

test('an import goes on while the store refuses writes, and its end is written later', async () => {
  const refused: string[] = []
  const stored: unknown[] = []
  let isRefusing = true
  const rows: ImportSessions['write'] = async ({ text, values = [] }) => {
    if (isRefusing) {
      refused.push(text)
      throw new StoreUnavailable('the disk is full')
    }
    if (text.includes('insert into')) stored.push(values[0])
    return []
  }
  const registry = openImports({
    dialect,
    background: openBackground(),
    log: openLog('silent'),
    lock: { hold: async () => 1, release: () => {} },
    rows,
    write: rows,
  })
  const ids: string[] = []
  for (let at = 0; at < limitNamed('importsUnwrittenMax') + 10; at += 1) {
    const running = registry.begin(aStream)
    running.enter('merging')
    running.end({ state: 'stored', counts })
    ids.push(running.id)
  }
  await assert.rejects(registry.list(everything), StoreUnavailable)
  assert.ok(refused.length >= 1)
  isRefusing = false
  await registry.list(everything)
  // Those past the bound are forgotten, the oldest first.
  assert.deepEqual(stored, ids.slice(10, 10 + limitNamed('importsWrittenMax')))
  await registry.close()
})

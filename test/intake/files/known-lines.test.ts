import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { checkStored } from '../../../src/intake/check-stored.ts'
import {
  type ImportOptions,
  type ImportReport,
  importFiles,
} from '../../../src/intake/files/import-file.ts'
import { readNdjson } from '../../../src/intake/files/reading/lines.ts'
import type { FindKnown } from '../../../src/intake/files/reading/read-entries.ts'
import { importStream } from '../../../src/intake/writer/import-stream.ts'
import type { StreamJob } from '../../../src/intake/writer/stream-job.ts'
import { fiatAccount } from '../../../src/resources/fiat-account.ts'
import type { Store } from '../../../src/store/records.ts'
import { openFileCipher } from '../../../src/vault/file-cipher.ts'
import { temporaryFolder } from '../../support/harness.ts'
import { openTestStore, rules, type TestStore } from '../../support/record-store.ts'
import { aFiatAccount, anId } from '../../support/records.ts'
import { flipped } from '../../support/test-sealing.ts'

/** Files whose lines are looked up before they are parsed. */

let tested: TestStore

before(async () => {
  tested = await openTestStore()
})
beforeEach(() => tested.store.operator.clear())
after(() => tested.close())

const { resource } = fiatAccount

async function* chunksOf(lines: readonly string[], between?: () => Promise<unknown>) {
  yield Buffer.from(`${lines.join('\n')}\n`)
  await between?.()
}

/** Imports lines as the command does. `parsed` counts the lines that were parsed. */
async function importLines(
  lines: readonly string[],
  between?: () => Promise<unknown>,
  store: Pick<Store, 'operator'> = tested.store,
  reject?: ImportOptions['reject'],
  { dryRun = false }: Partial<Pick<ImportOptions, 'dryRun'>> = {},
): Promise<ImportReport & { readonly parsed: number }> {
  let parsed = 0
  const entries = async function* (findKnown: FindKnown) {
    for await (const entry of readNdjson(chunksOf(lines, between), undefined, findKnown)) {
      if (!('known' in entry)) parsed += 1
      yield entry
    }
  }
  const options = { dryRun, allowOlder: false, rules, reject }
  const report = await importFiles(store, resource, [{ entries }], options)
  return { ...report, parsed }
}

const lines = Array.from({ length: 1200 }, (_, at) =>
  JSON.stringify(aFiatAccount({ id: anId(at + 1), ref_id: `ref ${at}` })),
)

const counts = ({
  records,
  added,
  changed,
  unchanged,
  parsed,
}: Awaited<ReturnType<typeof importLines>>) => [records, added, changed, unchanged, parsed]

/** Counts the ids that imports look up in a store. */
function countLookedUp({ operator }: Store) {
  const counted = { ids: 0 }
  const beginLoad: typeof operator.beginLoad = async (...args) => {
    const load = await operator.beginLoad(...args)
    const stored: typeof load.stored = (ids) => {
      counted.ids += ids.length
      return load.stored(ids)
    }
    return { ...load, stored }
  }
  return { counted, store: { operator: { ...operator, beginLoad } } }
}

describe('lines that are stored as they are', () => {
  test('are counted, and neither parsed nor staged', async () => {
    assert.deepEqual(counts(await importLines(lines)), [1200, 1200, 0, 0, 1200])
    assert.deepEqual(counts(await importLines(lines)), [1200, 0, 0, 1200, 0])
    const changed = lines.map((line, at) => (at === 7 ? line.replace('ref 7', 'other') : line))
    assert.deepEqual(counts(await importLines(changed)), [1200, 0, 1, 1199, 1])
    assert.deepEqual(counts(await importLines(changed)), [1200, 0, 0, 1200, 0])
  })

  test('are parsed once where they spell the same content in another way', async () => {
    const few = lines.slice(0, 3)
    await importLines(few)
    const stored = await tested.ask(
      `select stored_at, cast(source_digest as text) from bursar.fiat_account`,
    )
    const spelt = few.map((line) => line.replace('{"id"', '{ "id"'))
    const dryRun = await importLines(spelt, undefined, tested.store, undefined, { dryRun: true })
    assert.deepEqual(counts(dryRun), [3, 0, 0, 3, 3])
    assert.deepEqual(counts(await importLines(spelt)), [3, 0, 0, 3, 3])
    assert.deepEqual(counts(await importLines(spelt)), [3, 0, 0, 3, 0])
    const noted = await tested.ask(
      `select stored_at, cast(source_digest as text) from bursar.fiat_account`,
    )
    assert.deepEqual(noted.map(([at]) => at).sort(), stored.map(([at]) => at).sort())
    const before = new Set(stored.map(([, digest]) => digest))
    assert.ok(noted.every(([, digest]) => !before.has(digest)))
    const [first = '', ...others] = spelt
    const mixed = [first.replace('ref 0', 'other'), ...others]
    assert.deepEqual(counts(await importLines(mixed)), [3, 0, 1, 2, 1])
    assert.equal((await checkStored([resource], tested.store.operator.rows)).faults.length, 0)
  })

  test('are parsed after the record was changed by other means, and set it back', async () => {
    const few = lines.slice(0, 3)
    await importLines(few)
    await tested.take('fiat-accounts', [{ ...JSON.parse(few[1] ?? ''), ref_id: 'meanwhile' }])
    assert.deepEqual(counts(await importLines(few)), [3, 0, 1, 2, 1])
  })

  test('are a conflict with another line of the same record', async () => {
    const [one = ''] = lines
    await importLines([one])
    const other = one.replace('ref 0', 'other')
    for (const both of [
      [one, other],
      [other, one],
    ]) {
      const { faults, changed } = await importLines(both)
      assert.equal(changed, 0)
      const reason = 'stands in line 1 too, with other content'
      assert.deepEqual(faults, [{ line: 2, member: 'id', code: 'repeated', reason }])
    }
    const spelt = one.replace('{"id"', '{ "id"')
    assert.deepEqual(counts(await importLines([one, spelt])), [2, 0, 0, 2, 1])
  })

  test('are rejected if another line of the same record stands before them', async () => {
    const [one = ''] = lines
    await importLines([one])
    const other = one.replace('ref 0', 'other')
    for (const [both, changed] of [
      [[one, other], 0],
      [[other, one], 1],
    ] as const) {
      const rejected: object[] = []
      const report = await importLines(both, undefined, tested.store, (each) => rejected.push(each))
      const expected = [2, 0, changed, 1 - changed, 1, 1]
      assert.deepEqual([...counts(report), report.rejected], expected, `${changed} changed`)
      const reason = 'stands in line 1 too, with other content'
      const faults = [{ member: 'id', code: 'repeated', reason }]
      assert.deepEqual(rejected, [{ file: 0, line: 2, raw: both[1], faults }])
    }
  })

  test('refuse the file if another writer changes one of them meanwhile', async () => {
    await importLines(lines)
    const late = { ...JSON.parse(lines[0] ?? ''), ref_id: 'late' }
    const report = await importLines(lines, () => tested.take('fiat-accounts', [late]))
    assert.equal(report.faultCount, 1)
    assert.match(report.faults[0]?.reason ?? '', /another writer changed while it was read/)
    assert.equal((await importLines(lines)).changed, 1)
  })

  test('are parsed in a second reading, if another writer changes one before a stream merges', async () => {
    await importLines(lines)
    const late = { ...JSON.parse(lines[0] ?? ''), ref_id: 'late' }
    const { operator } = tested.store
    let loads = 0
    const overtaken: Pick<Store, 'operator'> = {
      operator: {
        ...operator,
        beginLoad: async (...given) => {
          const load = await operator.beginLoad(...given)
          const isFirst = loads === 0
          loads += 1
          const merge: typeof load.merge = async (options) => {
            if (isFirst) await tested.take('fiat-accounts', [late])
            return await load.merge(options)
          }
          return { ...load, merge }
        },
      },
    }
    const folder = temporaryFolder()
    const path = join(folder, 'stream')
    const { key, encipher } = openFileCipher()
    writeFileSync(path, encipher(Buffer.from(`${lines.join('\n')}\n`)))
    const job: StreamJob = {
      kind: 'fiat-accounts',
      path,
      key,
      isGzip: false,
      sha256: '',
      clientId: 'client_payouts',
      customerId: undefined,
      allowOlder: false,
      takeOver: false,
      answer: undefined,
      clockAhead: 0n,
    }
    const report = await importStream(job, {
      store: overtaken,
      rules,
      signal: new AbortController().signal,
      tell: () => {},
      mayCommit: async () => {},
    })
    rmSync(folder, { recursive: true })
    const { records, added, changed, unchanged } = report
    assert.deepEqual([loads, records, added, changed], [2, lines.length, 0, 1])
    assert.equal(unchanged, lines.length - 1)
  })

  test('are parsed if what is stored is damaged, so that the import mends it', async () => {
    const damages = [
      `update bursar.fiat_account set ref_id = 'other'`,
      `update bursar.fiat_account set updated_at = 1`,
      `update bursar.fiat_account set checksum = 1`,
      `update bursar.fiat_account set body = replace(body, 'XXXX', 'YYYY')`,
      `update bursar.fiat_account_full set ${flipped('body')}`,
      `update bursar.fiat_account_full set checksum = 1`,
      `delete from bursar.fiat_account_full`,
      `delete from bursar.fiat_account`,
    ]
    for (const sql of damages) {
      await tested.store.operator.clear()
      await importLines(lines.slice(0, 1))
      await tested.ask(sql)
      const { faultCount, parsed } = await importLines(lines.slice(0, 1))
      assert.deepEqual([faultCount, parsed], [0, 1], sql)
      const { faults } = await checkStored([resource], tested.store.operator.rows)
      assert.deepEqual(faults, [], sql)
    }
  })

  test('are looked up once the kind has records', async () => {
    const empty = await openTestStore()
    const { counted, store } = countLookedUp(empty.store)
    const few = lines.slice(0, 3)
    assert.deepEqual(counts(await importLines(few, undefined, store)), [3, 3, 0, 0, 3])
    assert.equal(counted.ids, 0)
    assert.deepEqual(counts(await importLines(few, undefined, store)), [3, 0, 0, 3, 0])
    assert.equal(counted.ids, 3)
    await empty.close()
  })

  test('may be stored by another writer during the first import', async () => {
    const empty = await openTestStore()
    const late = () => importLines(lines.slice(-1), undefined, empty.store)
    const report = await importLines(lines, late, empty.store)
    assert.deepEqual(counts(report), [1200, 1199, 0, 1, 1200])
    await empty.close()
  })
})

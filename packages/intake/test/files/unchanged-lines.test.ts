import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { openTestStore, rules, type TestStore } from '../../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'
import { flipped } from '../../../../test/support/test-sealing.ts'
import { fiatAccount } from '../../../contract/src/resources/fiat-account.ts'
import {
  type ImportOptions,
  type ImportReport,
  importEntries,
} from '../../src/files/import-file.ts'
import { readNdjson } from '../../src/files/reading/lines.ts'
import { checkStored } from '../../src/stored/check-stored.ts'

/** Files of which some lines are stored as they are. */

let tested: TestStore

before(async () => {
  tested = await openTestStore()
})
beforeEach(() => tested.store.operator.clear())
after(() => tested.close())

const { resource } = fiatAccount

type Given = Partial<Pick<ImportOptions, 'dryRun' | 'reject'>> & {
  /** Runs when every line was read. */
  readonly between?: () => Promise<unknown>
}

/** Imports lines as the command does. */
function importLines(
  lines: readonly string[],
  { between, reject, dryRun = false }: Given = {},
): Promise<ImportReport> {
  const chunks = async function* () {
    yield Buffer.from(`${lines.join('\n')}\n`)
    await between?.()
  }
  const options = { dryRun, allowOlder: false, rules, reject }
  return importEntries(tested.store, resource, readNdjson(chunks()), options)
}

const lines = Array.from({ length: 1200 }, (_, at) =>
  JSON.stringify(aFiatAccount({ id: anId(at + 1), ref_id: `ref ${at}` })),
)

const counts = ({ records, added, changed, unchanged }: ImportReport) => [
  records,
  added,
  changed,
  unchanged,
]

/** The times of all stored versions. */
const storedAt = async () =>
  (await tested.ask('select stored_at from bursar.fiat_account')).map(([at]) => at).sort()

describe('lines that are stored as they are', () => {
  test('are counted, and store nothing', async () => {
    assert.deepEqual(counts(await importLines(lines)), [1200, 1200, 0, 0])
    const first = await storedAt()
    assert.deepEqual(counts(await importLines(lines)), [1200, 0, 0, 1200])
    assert.deepEqual(await storedAt(), first)
    const changed = lines.map((line, at) => (at === 7 ? line.replace('ref 7', 'other') : line))
    assert.deepEqual(counts(await importLines(changed)), [1200, 0, 1, 1199])
    assert.deepEqual(counts(await importLines(changed)), [1200, 0, 0, 1200])
  })

  test('may spell the same content in another way', async () => {
    const few = lines.slice(0, 3)
    await importLines(few)
    const first = await storedAt()
    const spelt = few.map((line) => line.replace('{"id"', '{ "id"'))
    assert.deepEqual(counts(await importLines(spelt, { dryRun: true })), [3, 0, 0, 3])
    assert.deepEqual(counts(await importLines(spelt)), [3, 0, 0, 3])
    assert.deepEqual(await storedAt(), first)
  })

  test('set back what was changed by other means, also while the file was read', async () => {
    const few = lines.slice(0, 3)
    await importLines(few)
    const late = { ...JSON.parse(few[1] ?? ''), ref_id: 'meanwhile' }
    await tested.take('fiat-accounts', [late])
    assert.deepEqual(counts(await importLines(few)), [3, 0, 1, 2])
    const between = () => tested.take('fiat-accounts', [late])
    assert.deepEqual(counts(await importLines(few, { between })), [3, 0, 1, 2])
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
    assert.deepEqual(counts(await importLines([one, spelt])), [2, 0, 0, 2])
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
      const report = await importLines(both, {
        reject: ({ raw, ...each }) => rejected.push({ ...each, raw: Buffer.from(raw).toString() }),
      })
      const expected = [2, 0, changed, 1 - changed, 1]
      assert.deepEqual([...counts(report), report.rejected], expected, `${changed} changed`)
      const reason = 'stands in line 1 too, with other content'
      const faults = [{ member: 'id', code: 'repeated', reason }]
      assert.deepEqual(rejected, [{ file: 0, line: 2, raw: both[1], faults }])
    }
  })

  test('mend what is stored, if it is damaged', async () => {
    const damages = [
      `update bursar.fiat_account set ref_id = 'other'`,
      `update bursar.fiat_account set updated_at = 1`,
      `update bursar.fiat_account set checksum = 1`,
      `update bursar.fiat_account set body = replace(body, 'XXXX', 'YYYY')`,
      `update bursar.fiat_account_full set ${flipped('body')}`,
      `update bursar.fiat_account_full set checksum = 1`,
      `delete from bursar.fiat_account_full`,
    ]
    for (const sql of damages) {
      await tested.store.operator.clear()
      await importLines(lines.slice(0, 1))
      await tested.ask(sql)
      const { faultCount } = await importLines(lines.slice(0, 1))
      assert.equal(faultCount, 0, sql)
      const { faults } = await checkStored([resource], tested.store.operator.rows)
      assert.deepEqual(faults, [], sql)
    }
  })

  test('may be stored by another writer while the first file is read', async () => {
    const between = () => importLines(lines.slice(-1))
    assert.deepEqual(counts(await importLines(lines, { between })), [1200, 1199, 0, 1])
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { readCsv } from '../../../src/intake/files/csv/read-csv.ts'
import { type ImportReport, importFiles } from '../../../src/intake/files/import-file.ts'
import { readJsonArray } from '../../../src/intake/files/reading/json-array.ts'
import { readNdjson } from '../../../src/intake/files/reading/lines.ts'
import type { FindKnown } from '../../../src/intake/files/reading/read-entries.ts'
import type { InputFile, RejectedLine } from '../../../src/intake/files/stage-file.ts'
import { depositAddress } from '../../../src/resources/deposit-address.ts'
import { encodeAddress } from '../../../src/sandbox/encode-address.ts'
import { openTestStore, rules, type TestStore } from '../../support/record-store.ts'
import { aDepositAddress, anId } from '../../support/records.ts'
import { testStore } from '../../support/test-database.ts'

/**
 * The law of known lines: an import reports, rejects and stores what it would if every line was
 * parsed and staged. Two stores get the same files, one with the look-up and one without it.
 */

const { resource } = depositAddress
const customers = ['acme', 'beta']

const IDS = 6
const addresses = Array.from({ length: IDS }, (_, at) =>
  encodeAddress('ETHEREUM', Buffer.alloc(32, at + 1)),
)

const few = (max: number) => fc.integer({ min: 0, max })
const rarely = (value: number) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(value) })

/** Few ids, values and customers, so that lines repeat, conflict and lose values to each other. */
const line = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      id: few(IDS - 1),
      /** How far its values are those of another id. */
      clash: fc.record({ address: rarely(1), ref: rarely(1), customer: rarely(1) }),
      customer: fc.constantFrom(...Array<string>(8).fill('named'), 'none'),
      version: rarely(2),
      deleted: fc.constantFrom(
        undefined,
        undefined,
        undefined,
        undefined,
        null,
        '2026-02-01T00:00:00Z',
      ),
      isSpelt: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom('blank' as const, 'blank' as const, 'damaged' as const) },
)

type Line = typeof line extends fc.Arbitrary<infer L> ? L : never

const step = fc.record({
  lines: fc.array(line, { maxLength: 3 }),
  /** Lines of the first file, between which the others stand. */
  again: fc.subarray(Array.from({ length: IDS }, (_, at) => at)),
  place: few(IDS),
  allowOlder: fc.boolean(),
  takeOver: fc.boolean(),
  skips: fc.boolean(),
  dryRun: fc.constantFrom(false, false, false, true),
  customerId: fc.constantFrom(undefined, undefined, undefined, undefined, 'acme'),
  damage: fc.constantFrom(
    undefined,
    undefined,
    `update bursar.deposit_address set ref_id = 'other' where ref_id = 'ref 1'`,
    `update bursar.deposit_address set checksum = 1 where ref_id = 'ref 2'`,
    `update bursar.deposit_address set body = replace(body, 'profile-1', 'profile-2')`,
  ),
})

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const format = fc.constantFrom('ndjson' as const, 'json' as const, 'csv' as const)

type Format = 'ndjson' | 'json' | 'csv'

function recordOf({ id, clash, customer, version, deleted }: Exclude<Line, string>) {
  return aDepositAddress({
    id: anId(id),
    customer_id: customer === 'none' ? undefined : customers[(id + clash.customer) % 2],
    address: addresses[(id + clash.address) % IDS],
    ref_id: `ref ${(id + clash.ref) % IDS}`,
    source_version: version,
    ...(deleted !== undefined && { deleted_at: deleted }),
  })
}

const columns = [
  'ref_id',
  'id',
  'customer_id',
  'address',
  'source_version',
  'deleted_at',
  'profile_id',
  'crypto_network',
  'conversion_target_asset',
  'compatible_crypto_networks.0',
  'created_at',
]

function jsonOf(given: Line): string {
  if (typeof given === 'string') return given === 'blank' ? ' ' : '{"id":'
  const text = JSON.stringify(recordOf(given))
  return given.isSpelt
    ? text.replace('{"id":', ' {"id" : ').replace(anId(1), anId(1).toUpperCase())
    : text
}

function rowOf(given: Line): string {
  if (typeof given === 'string') return given === 'blank' ? '' : 'x'
  const record = recordOf(given)
  const cells = columns.map((column) => {
    const value = column.endsWith('.0') ? 'ETHEREUM' : record[column]
    return value === undefined ? '' : String(value)
  })
  // A reference in quotation marks may have the delimiter and line ends.
  return cells.map((cell, at) => (given.isSpelt && at === 0 ? `"${cell}"` : cell)).join(',')
}

function entriesOf(format: Format, lines: readonly Line[], findKnown: FindKnown) {
  const chunks = async function* (text: string) {
    // Some borders of chunks cut lines.
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 300) yield bytes.subarray(at, at + 300)
  }
  if (format === 'csv') {
    const text = [columns.join(','), ...lines.map(rowOf)].join('\n')
    return readCsv(chunks(text), resource.record, {}, findKnown)
  }
  const texts = lines.map(jsonOf)
  return format === 'json'
    ? readJsonArray(chunks(`[${texts.join(',\n')}]`), findKnown)
    : readNdjson(chunks(texts.join('\n')), undefined, findKnown)
}

const plain: readonly Line[] = Array.from({ length: IDS }, (_, id) => ({
  id,
  clash: { address: 0, ref: 0, customer: 0 },
  customer: 'named',
  version: 0,
  deleted: undefined,
  isSpelt: false,
}))

const first: Step = {
  lines: [],
  again: [],
  place: 0,
  allowOlder: false,
  takeOver: false,
  skips: false,
  dryRun: false,
  customerId: undefined,
  damage: undefined,
}

type Run = { readonly tested: TestStore; readonly looksUp: boolean; known: number }

/** Imports the lines of a step. Returns its report, and what was rejected. */
async function importStep(run: Run, format: Format, step: Step, lines: readonly Line[]) {
  const { skips, allowOlder, takeOver, dryRun, customerId } = step
  const rejected: RejectedLine[] = []
  const entries: InputFile['entries'] = (findKnown) =>
    entriesOf(format, lines, async (raw, sources) => {
      const known = await findKnown(raw, sources)
      run.known += known.filter((one) => one !== undefined).length
      return run.looksUp ? known : known.map(() => undefined)
    })
  const origin = { file: 'a file', user: 'ops', sudoUser: undefined, sha256: async () => 'sum' }
  const report: ImportReport = await importFiles(
    run.tested.store,
    resource,
    [{ entries, origin }],
    {
      allowOlder,
      takeOver,
      dryRun,
      customerId,
      rules,
      reject: skips
        ? (each) => rejected.push({ ...each, raw: Buffer.from(each.raw as Uint8Array).toString() })
        : undefined,
    },
  )
  return { report, rejected }
}

/** Everything that the store keeps, but the numbers of customers and of origins. */
async function contentOf({ ask }: TestStore): Promise<readonly unknown[]> {
  const customer = '(select id from bursar.customer where number = row.customer)'
  const queries = [
    `select ${customer}, stored_at, checksum, deleted, id_taken, deleted_at, updated_at, source_version,
       cast(source_digest as text), origin_line, ref_id, exclusive_key, body
     from bursar.deposit_address as row order by body, deleted, 1`,
    `select ${customer}, kind, id, stored_at, replaced_at, change, body, deleted_at, source_version,
       checksum, origin_line from bursar.superseded as row order by stored_at, row.id, replaced_at, 1`,
    `select ${customer}, kind, changed_at from bursar.revision as row order by 1`,
    `select ${customer}, kind, member, value, until from bursar.former_value as row order by value, member, until, 1`,
    `select imported_at, file, records, added, changed, unchanged from bursar.import_journal order by id`,
  ]
  const found: unknown[] = []
  for (const query of queries) found.push(await ask(query))
  return found
}

let runs: readonly Run[]
let now = 0n

before(async () => {
  const open = async () => openTestStore(() => now)
  runs = [
    { tested: await open(), looksUp: true, known: 0 },
    { tested: await open(), looksUp: false, known: 0 },
  ]
})
after(async () => {
  for (const { tested } of runs) await tested.close()
})

describe('an import that looks lines up', () => {
  test('reports, rejects and stores the same as one that stages every line', async () => {
    const usual = testStore === 'postgres' ? 15 : 60
    const numRuns = process.env.BURSAR_TEST_LONG === '1' ? usual * 30 : usual
    await fc.assert(
      fc.asyncProperty(format, fc.array(step, { maxLength: 4 }), async (format, steps) => {
        for (const { tested } of runs) await tested.store.operator.clear()
        for (const [at, one] of [first, ...steps].entries()) {
          now += 1_000_000n
          const lines = at === 0 ? [...plain] : plain.filter((_, id) => one.again.includes(id))
          if (at > 0) lines.splice(one.place, 0, ...one.lines)
          const found: unknown[] = []
          for (const run of runs) {
            if (one.damage !== undefined) await run.tested.ask(one.damage)
            found.push({
              ...(await importStep(run, format, one, lines)),
              stored: await contentOf(run.tested),
            })
          }
          assert.deepEqual(found[0], found[1])
        }
      }),
      { seed: 20_261_123, numRuns },
    )
    assert.ok(
      runs.every(({ known }) => known > numRuns),
      `${runs.map(({ known }) => known)} lines were known`,
    )
  })
})

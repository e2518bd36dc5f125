import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { resources } from '@bursar/contract'
import { mergeStatements } from '@bursar/records'
import { openPostgresTestStore, resourceOf } from '../../../test/support/record-store.ts'
import { addressesOf } from '../../../test/support/test-database.ts'
import { conflictQueries } from '../../records/src/merge/conflict-queries.ts'
import { putStatements } from '../../records/src/merge/put-batch.ts'
import {
  createImportStaging,
  createPutStaging,
  indexStaged,
  numberStaged,
  stagingOf,
  stagingOfAll,
} from '../../records/src/merge/staging.ts'
import { dialect } from '../src/dialect.ts'
import { type Connection, openConnection } from '../src/driver/connection.ts'
import { bulkTransaction, readingSessions, setLocal } from '../src/driver/sessions.ts'

const resource = resourceOf('fiat-accounts')
const ROWS = 20_000
/** To compare each record with each would take minutes; the right plans take a second. */
const STATEMENT_MS = 15_000

let tested: Awaited<ReturnType<typeof openPostgresTestStore>>
before(async () => {
  tested = await openPostgresTestStore()
  const store = (customer: string, first: number, rows: number) => `
    insert into bursar.fiat_account (customer, position, id, body, stored_at, deleted, checksum, change, event, status)
    select *, false, 0, 0, 0, 'PENDING' from (${accounts(customer, first, rows)}) as made`
  // The statistics know customers of one record. Then one customer stores many.
  await tested.database.ask('alter table bursar.fiat_account set (autovacuum_enabled = false)')
  await tested.database.ask(`insert into bursar.customer (id)
    select 'customer-' || at from generate_series(1, 1000) as at union all select 'acme'`)
  await tested.database.ask(store('at + 1', 0, 1000))
  await tested.database.ask('analyze bursar.fiat_account')
  await tested.database.ask(
    store(`(select number from bursar.customer where id = 'acme')`, 1000, ROWS),
  )
})
after(() => tested.close())

const accounts = (customer: string, first: number, rows: number) => `
  select ${customer}, int8send(at) || uuid_send(id), id, repeat('x', 300), at
  from (select at, lpad(to_hex(at), 32, '0')::uuid as id
        from generate_series(${first}, ${first + rows - 1}) as at) as made`

const staging = stagingOf(resource, dialect)
const ofImport = {
  settings: bulkTransaction(STATEMENT_MS),
  create: createImportStaging(staging, dialect, 'on commit drop'),
  fill: '',
}
const ofPuts = {
  settings: readingSessions(STATEMENT_MS),
  create: createPutStaging(staging, dialect),
  fill: numberStaged(dialect),
}

/** Runs work in a transaction of the operator, beside as many staged accounts of that customer. */
async function withStaged(
  { settings, create, fill }: typeof ofImport | typeof ofPuts,
  first: number,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const [address] = addressesOf(tested.database.operatorUrl)
  assert.ok(address !== undefined)
  const session = openConnection(address, { parameters: {}, connectTimeoutMs: 60_000 })
  try {
    await session.execute(`
      begin; ${setLocal(settings)};
      ${create};
      insert into staged_line (customer_id, position, id, full_body, sequence)
        ${accounts(`'acme'`, first, ROWS)};
      update staged_line set line = sequence, file = 0, keeps_deletion = 1;
      ${fill};
      analyze staged_line`)
    await work(session)
  } finally {
    await session.close()
  }
}

const { withStore } = conflictQueries(resource, dialect)
const { hasReplaced, lastChange } = mergeStatements(resource, dialect)

for (const [name, merge] of [
  ['records of an import', ofImport],
  ['single records', ofPuts],
] as const) {
  test(`with stale statistics, ${name} without a ref_id are checked within the deadline`, async () => {
    for (const first of [1_000_000, 1000]) {
      await withStaged(merge, first, async (session) => {
        for (const text of [...withStore({ allowOlder: false }), hasReplaced, lastChange]) {
          await session.query({ text })
        }
      })
    }
  })
}

test('a null ref_id is looked up nowhere', async () => {
  await withStaged(ofPuts, 1_000_000, async (session) => {
    const text = withStore({ allowOlder: true }).find((query) =>
      query.includes("'ref_id' as member"),
    )
    const rows = await session.query({ text: `explain (analyze, costs off) ${text}` })
    const plan = rows.map(([line]) => String(line))
    const scans = plan.filter((line) => line.includes(' on fiat_account '))
    assert.ok(scans.length > 0, plan.join('\n'))
    for (const scan of scans) assert.match(scan, /never executed/, plan.join('\n'))
  })
})

for (const { kind } of resources) {
  test(`the conflicts of single ${kind} are looked up by indexes`, async () => {
    const [address] = addressesOf(tested.database.operatorUrl)
    assert.ok(address !== undefined)
    const parameters = readingSessions(STATEMENT_MS)
    const session = openConnection(address, { parameters, connectTimeoutMs: 60_000 })
    try {
      const staging = stagingOfAll(resources, dialect)
      await session.execute(`${createPutStaging(staging, dialect)}; ${indexStaged}`)
      const { stored, merge } = putStatements(resourceOf(kind), dialect)
      const { hold, holdAgain, noteReplaced = hold, noteTaken, settle } = merge.held
      for (const text of [stored, hold, ...holdAgain, noteReplaced, noteTaken, ...settle]) {
        const rows = await session.query({ text: `explain ${text}` })
        const plan = rows.map(([line]) => String(line)).join('\n')
        assert.doesNotMatch(plan, /Seq Scan/, plan)
        // The table of claims is empty here, so any index of it will do.
        for (const scan of plan.match(/ on (?!unique_claim)\w+ (stored|held)\w*.*\n.*/g) ?? []) {
          assert.match(scan, /Index Cond: .*(staged|held\w*\.|let_go|network)/, `${text}\n${plan}`)
        }
      }
    } finally {
      await session.close()
    }
  })
}

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { resources } from '../../src/resources/catalogue.ts'
import { withPrimary } from '../../src/store/postgres/cluster/with-primary.ts'
import { recordDialect as postgresDialect } from '../../src/store/postgres/schema/record-dialect.ts'
import {
  type RecordStep,
  recordMigration,
  recordSteps,
} from '../../src/store/sql/record-migrations.ts'
import type { SchemaDialect } from '../../src/store/sql/record-schema.ts'
import { memberColumns } from '../../src/store/sql/staging.ts'
import { recordDialect as sqliteDialect } from '../../src/store/sqlite/record-dialect.ts'
import { addressesOf, openTestDatabase, testStore } from '../support/test-database.ts'

/**
 * A release that stored statements without their status, and the next one, which lists them by it.
 */
const twoReleases: readonly RecordStep[] = [
  { createKinds: ['statements'] },
  { addColumn: 'status', kind: 'statements' },
]

/**
 * The columns that each kind was released with. A column that comes later needs a step of its own.
 */
const releasedColumns: Readonly<Record<string, readonly string[]>> = {
  'fiat-accounts': ['ref_id'],
  'fiat-deposit-instructions': ['ref_id', 'memo_id', 'account_id', 'identity_id', 'profile_id'],
  'deposit-addresses': [
    ...['ref_id', 'address', 'account_id', 'identity_id', 'profile_id', 'crypto_network'],
    'exclusive_key',
  ],
  statements: ['ref_id', 'status'],
  'issuer-quote-executions': ['ref_id', 'profile_id', 'status'],
}

/** An empty database and a way to run SQL in it as the owner of the tables. */
type Place = {
  readonly dialect: SchemaDialect
  run(sql: string): Promise<void>
  ask(sql: string): Promise<unknown[][]>
  readonly indexes: string
  close(): Promise<void>
}

function openFile(): Place {
  const db = new DatabaseSync(':memory:')
  return {
    dialect: sqliteDialect,
    run: async (sql) => db.exec(sql),
    ask: async (sql) =>
      db
        .prepare(sql)
        .all()
        .map((row) => Object.values(row)),
    indexes: `select name from sqlite_master where type = 'index' and sql is not null order by name`,
    close: async () => db.close(),
  }
}

async function openDatabase(): Promise<Place> {
  const database = await openTestDatabase()
  const run = (sql: string) =>
    withPrimary(addressesOf(database.ownerUrl), (connection) => connection.execute(sql))
  await run('drop schema bursar cascade; create schema bursar')
  return {
    dialect: postgresDialect,
    run,
    ask: database.ask,
    indexes: `select indexname from pg_indexes where schemaname = 'bursar' and indexname not like '%pkey' order by 1`,
    close: database.drop,
  }
}

const openPlace = async (): Promise<Place> =>
  testStore === 'postgres' ? await openDatabase() : openFile()

describe('the steps of records', () => {
  test('create every kind of the catalogue once', () => {
    const created = recordSteps.flatMap((step) => ('createKinds' in step ? step.createKinds : []))
    assert.deepEqual(created.toSorted(), resources.map(({ kind }) => kind).toSorted())
  })

  test('add every column that a released kind did not have', () => {
    for (const resource of resources) {
      const added = recordSteps.flatMap((step) =>
        'addColumn' in step && step.kind === resource.kind ? [step.addColumn] : [],
      )
      const created = memberColumns(resource).filter((column) => !added.includes(column))
      const released = releasedColumns[resource.kind] ?? created
      assert.deepEqual(created.toSorted(), released.toSorted(), resource.kind)
    }
  })

  test('add a column to stored records, filled from their bodies', async () => {
    const place = await openPlace()
    try {
      const { dialect } = place
      const table = dialect.tableName('statement')
      await place.run(recordMigration(1, dialect, twoReleases))
      await place.ask(`insert into ${table}
        (customer_id, deleted, position, id, body, stored_at) values
        ('acme', ${testStore === 'postgres' ? "false, 'p'" : "0, x'70'"},
          'aaaaaaaa-0000-4000-8000-000000000001', '{"status":"PAID"}', 1)`)
      await place.run(recordMigration(2, dialect, twoReleases))
      assert.deepEqual(await place.ask(`select status from ${table}`), [['PAID']])
      const indexes = (await place.ask(place.indexes)).flat()
      assert.ok(indexes.includes('statement_by_status'), indexes.join(', '))
    } finally {
      await place.close()
    }
  })

  test('leave row-level security on after filling a column', async () => {
    if (testStore !== 'postgres') return
    const place = await openPlace()
    try {
      await place.run(recordMigration(1, place.dialect, twoReleases))
      await place.run(recordMigration(2, place.dialect, twoReleases))
      const [forced] = await place.ask(
        `select relforcerowsecurity from pg_class where oid = 'bursar.statement'::regclass`,
      )
      assert.deepEqual(forced, ['t'])
    } finally {
      await place.close()
    }
  })
})

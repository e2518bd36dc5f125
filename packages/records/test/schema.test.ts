import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { resources } from '@bursar/contract'
import {
  addressesOf,
  openTestDatabase,
  roles,
  testStore,
} from '../../../test/support/test-database.ts'
import { dialect as postgresDialect } from '../../postgres/src/dialect.ts'
import {
  migratePostgres,
  ownStatements as ownOfPostgres,
} from '../../postgres/src/schema/migrate.ts'
import { dialect as sqliteDialect } from '../../sqlite/src/dialect.ts'
import { migrate, ownStatements as ownOfSqlite } from '../../sqlite/src/migrate.ts'
import type { Dialect } from '../src/dialect.ts'
import { type Step, schemaSteps, stepOf } from '../src/schema/steps.ts'
import { tablesOf } from '../src/schema/tables.ts'

const isPostgres = testStore === 'postgres'
const dialect: Dialect = isPostgres ? postgresDialect : sqliteDialect
const { tableName } = dialect

/** The steps of a version of Bursar that has another one after those of this one. */
const steps = schemaSteps(dialect, isPostgres ? ownOfPostgres : ownOfSqlite)
const stepsWith = (sql: string): readonly Step[] => [...steps, stepOf('extra', 'credentials', sql)]

/** An empty database. */
type Place = {
  migrate(steps: readonly Step[]): Promise<void>
  /** Runs a query past row-level security. Returns the values of the rows as text. */
  ask(sql: string): Promise<(string | null)[][]>
}

async function newPlace(context: TestContext): Promise<Place> {
  if (isPostgres) {
    const database = await openTestDatabase()
    context.after(database.drop)
    await database.ask('drop schema bursar, bursar_audit cascade')
    const owner = addressesOf(database.ownerUrl)
    return {
      migrate: async (steps) => void (await migratePostgres(owner, roles, { steps })),
      ask: database.ask,
    }
  }
  const db = new DatabaseSync(':memory:')
  context.after(() => db.close())
  const textOf = (value: unknown) => (value === null ? null : String(value))
  return {
    migrate: async (steps) => void migrate(db, steps),
    ask: async (sql) => {
      const rows = db.prepare(sql).all()
      return rows.map((row) => Object.values(row).map(textOf))
    },
  }
}

const stepNames = async (place: Place) => {
  const rows = await place.ask(`select name from ${tableName('schema_migration')} order by name`)
  return rows.flat()
}

test('one step creates each database, and each table of records once', () => {
  assert.deepEqual(
    steps.map((step) => [step.name, step.database]),
    [
      ['records', 'records'],
      ['credentials', 'credentials'],
    ],
  )
  for (const table of resources.flatMap(tablesOf)) {
    const creations = steps[0]?.sql.split(`create table ${tableName(table)} (`)
    assert.equal(creations?.length, 2, table)
  }
})

test('a step is applied once, and a step that fails is undone', async (t) => {
  const place = await newPlace(t)
  const table = `create table ${tableName('extra')} (x integer)`
  await place.migrate(steps)
  await place.migrate(steps)
  const failing = place.migrate(stepsWith(`${table}; insert into nowhere values (1)`))
  await assert.rejects(failing, /nowhere/)
  assert.deepEqual(await stepNames(place), ['credentials', 'records'])
  await place.migrate(stepsWith(table))
  assert.deepEqual(await place.ask(`select * from ${tableName('extra')}`), [])
})

test('a database that a later version has migrated is refused', async (t) => {
  const place = await newPlace(t)
  await place.migrate(stepsWith(`create table ${tableName('extra')} (x integer)`))
  await assert.rejects(place.migrate(steps), {
    name: 'ConfigError',
    message:
      "The database's schema has the step extra, which this version of Bursar does not know. Run the version that wrote it, or a later one.",
  })
})

test('a database with another form of a step is refused, unless only comments differ', async (t) => {
  const place = await newPlace(t)
  const table = tableName('extra')
  const withColumn = (text: string) => stepsWith(`create table ${table} (${text})`)
  await place.migrate(withColumn('-- One.\n x integer'))
  await place.migrate(withColumn('-- The column x.\n  x\n integer'))
  await assert.rejects(place.migrate(withColumn('x text')), {
    name: 'ConfigError',
    message:
      "The database's schema has another form of the step extra than this version of Bursar. Run the version that made the store, or export its records with that version and import them into a new store.",
  })
})

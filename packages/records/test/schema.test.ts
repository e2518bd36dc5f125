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
import { type LaterStep, laterSteps, type Step, schemaSteps } from '../src/schema/steps.ts'
import { tablesOf } from '../src/schema/tables.ts'

const isPostgres = testStore === 'postgres'
const dialect: Dialect = isPostgres ? postgresDialect : sqliteDialect
const { tableName } = dialect

/** The steps of a version of Bursar that has these steps after those of this one. */
const stepsWith = (...later: readonly LaterStep[]): readonly Step[] =>
  schemaSteps(dialect, isPostgres ? ownOfPostgres : ownOfSqlite, [...laterSteps, ...later])

const addTable = (sql: string): LaterStep => ({
  name: 'extra',
  database: 'credentials',
  sql: () => sql,
})

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

/** The later steps of this version. Grants need them, so no test leaves one out. */
const [first, second, ...released] = stepsWith()
const releasedNames = released.map(({ name }) => name)

const stepNames = async (place: Place) => {
  const rows = await place.ask(`select name from ${tableName('schema_migration')} order by name`)
  return rows.flat().filter((name) => !releasedNames.includes(String(name)))
}

test('one step creates each database, and each table of records is created by one step', () => {
  assert.deepEqual(
    [first, second].map((step) => [step?.name, step?.database]),
    [
      ['records', 'records'],
      ['credentials', 'credentials'],
    ],
  )
  for (const later of [[], [{ createKind: 'statements' }]] as const) {
    const steps = stepsWith(...later)
    for (const table of resources.flatMap(tablesOf)) {
      const creating = steps.filter(({ sql }) => sql.includes(`create table ${tableName(table)} (`))
      assert.equal(creating.length, 1, table)
      if (later.length > 0 && table === 'statement') assert.equal(creating[0]?.name, 'statements')
    }
  }
})

test('a step is applied once, and a step that fails is undone', async (t) => {
  const place = await newPlace(t)
  const table = `create table ${tableName('extra')} (x integer)`
  await place.migrate(stepsWith())
  await place.migrate(stepsWith())
  const failing = place.migrate(stepsWith(addTable(`${table}; insert into nowhere values (1)`)))
  await assert.rejects(failing, /nowhere/)
  assert.deepEqual(await stepNames(place), ['credentials', 'records'])
  await place.migrate(stepsWith(addTable(table)))
  assert.deepEqual(await place.ask(`select * from ${tableName('extra')}`), [])
})

test('a database that a later version has migrated is refused', async (t) => {
  const place = await newPlace(t)
  await place.migrate(stepsWith(addTable(`create table ${tableName('extra')} (x integer)`)))
  await assert.rejects(place.migrate(stepsWith()), {
    name: 'ConfigError',
    message:
      "The database's schema has the step extra, which this version of Bursar does not know. Run the version that wrote it, or a later one.",
  })
})

test('a database with another form of a step is refused, unless only comments differ', async (t) => {
  const place = await newPlace(t)
  const table = tableName('extra')
  const withColumn = (text: string) => stepsWith(addTable(`create table ${table} (${text})`))
  await place.migrate(withColumn('-- One.\n x integer'))
  await place.migrate(withColumn('-- The column x.\n  x\n integer'))
  await assert.rejects(place.migrate(withColumn('x text')), {
    name: 'ConfigError',
    message:
      "The database's schema has another form of the step extra than this version of Bursar. Undo the edit of that step and put the change into a new step, or run the version that applied it.",
  })
})

test('a later kind gets its tables, with the rights and policies of the others', async (t) => {
  const place = await newPlace(t)
  const steps = stepsWith({ createKind: 'fiat-accounts' })
  await place.migrate(steps)
  const names = ['credentials', 'fiat-accounts', 'records']
  assert.deepEqual(await stepNames(place), names)
  const shape = (of: Place) =>
    of.ask(
      isPostgres
        ? `select format('%s %s %s %s', relname, relacl, relrowsecurity, relforcerowsecurity)
           from pg_class where relnamespace = 'bursar'::regnamespace order by 1`
        : 'select sql from sqlite_schema order by name',
    )
  const whole = await newPlace(t)
  await whole.migrate(stepsWith())
  assert.deepEqual(await shape(place), await shape(whole))
})

test('a later column is filled, from stored records and from replaced versions', async (t) => {
  const place = await newPlace(t)
  const steps = stepsWith({ addColumn: 'profile_id', kind: 'issuer-quote-executions' })
  const table = tableName('issuer_quote_execution')
  const id = 'aaaaaaaa-0000-4000-8000-000000000001'
  const [deleted, position] = isPostgres
    ? ['false', `'p'`]
    : ['0', `unhex('8000000000000000${id.replaceAll('-', '')}')`]
  await place.migrate(steps.filter(({ name }) => name !== 'issuer-quote-executions.profile_id'))
  await place.ask(`insert into ${table}
    (customer, deleted, position${isPostgres ? ', id' : ''}, status, body, stored_at, change, event, checksum) values
    (7, ${deleted}, ${position}${isPostgres ? `, '${id}'` : ''}, 'PENDING', '{"profile_id":"now"}', 9, 4, 1, 0)`)
  for (const [value, at] of [
    ['first', 2],
    ['second', 5],
    ['first', 9],
  ] as const) {
    await place.ask(`insert into ${tableName('superseded')}
      (kind, customer, id, stored_at, replaced_at, change, event, body, checksum) values
      ('issuer-quote-executions', 7, '${id}', 1, ${at}, 1, 0, '{"profile_id":"${value}"}', 0)`)
  }
  await place.migrate(steps)
  assert.deepEqual(await place.ask(`select profile_id from ${table}`), [['now']])
  assert.deepEqual(
    await place.ask(`select member, value, until from ${tableName('former_value')} order by 2`),
    [
      ['profile_id', 'first', '9'],
      ['profile_id', 'second', '5'],
    ],
  )
  const indexes = (
    await place.ask(
      isPostgres
        ? `select indexdef from pg_indexes where schemaname = 'bursar'`
        : `select sql from sqlite_schema where type = 'index' and sql is not null`,
    )
  ).map(String)
  // Records from before may lack the member.
  const shape =
    /_by_profile_id on .*\(profile_id, customer, deleted, "?position"?\) where \(?profile_id is not null/i
  assert.ok(
    indexes.some((sql) => shape.test(sql)),
    indexes.join('\n'),
  )
  if (!isPostgres) return
  const unforced = await place.ask(`select relname from pg_class
    where relnamespace = 'bursar'::regnamespace and relrowsecurity and not relforcerowsecurity
      and relname in ('issuer_quote_execution', 'superseded', 'former_value')`)
  assert.deepEqual(unforced, [])
})

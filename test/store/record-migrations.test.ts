import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/platform/clock.ts'
import { resources } from '../../src/resources/catalogue.ts'
import type { Dialect } from '../../src/store/dialect.ts'
import { bodyChecksum } from '../../src/store/integrity/checksum.ts'
import { withPrimary } from '../../src/store/postgres/cluster/with-primary.ts'
import { dialect as postgresDialect } from '../../src/store/postgres/dialect.ts'
import {
  migratePostgres,
  migrations,
  requireSchema,
} from '../../src/store/postgres/schema/migrate.ts'
import {
  type RecordStep,
  recordMigration,
  recordSteps,
} from '../../src/store/sql/schema/record-migrations.ts'
import { memberColumns } from '../../src/store/sql/staging.ts'
import { openSqliteCredentials } from '../../src/store/sqlite/credentials.ts'
import { dialect as sqliteDialect } from '../../src/store/sqlite/dialect.ts'
import { openSqliteFeeQuotes } from '../../src/store/sqlite/fee-quotes.ts'
import { defineFunctions, openSqliteStore } from '../../src/store/sqlite/open-records.ts'
import { temporaryFolder } from '../support/harness.ts'
import { addressesOf, openTestDatabase, roles, testStore } from '../support/test-database.ts'

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
    'ref_id',
    'address',
    'account_id',
    'identity_id',
    'profile_id',
    'crypto_network',
    'exclusive_key',
  ],
  statements: ['ref_id', 'status'],
  'issuer-quote-executions': ['ref_id', 'profile_id', 'status'],
}

/** An empty database and a way to run SQL in it as the owner of the tables. */
type Place = {
  readonly dialect: Dialect
  run(sql: string): Promise<void>
  ask(sql: string): Promise<unknown[][]>
  /** Asks for the statement that creates each index. */
  readonly indexes: string
  close(): Promise<void>
}

function openFile(): Place {
  const db = new DatabaseSync(':memory:')
  defineFunctions(db)
  return {
    dialect: sqliteDialect,
    run: async (sql) => db.exec(sql),
    ask: async (sql) =>
      db
        .prepare(sql)
        .all()
        .map((row) => Object.values(row)),
    indexes: `select sql from sqlite_master where type = 'index' and sql is not null order by name`,
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
    indexes: `select indexdef from pg_indexes where schemaname = 'bursar' and indexname not like '%pkey' order by 1`,
    close: database.drop,
  }
}

const openPlace = async (): Promise<Place> =>
  testStore === 'postgres' ? await openDatabase() : openFile()

/**
 * The fingerprints of every released step, shortened. A store refuses a step that differs from what
 * it has applied, so a line is never edited. A release adds the lines of its new steps.
 */
const releasedSteps: Readonly<Record<'sqlite' | 'postgres', readonly string[]>> = {
  sqlite: [
    'records 1 859b3b88440c73d6',
    'records 2 9d870c806dbe269f',
    'records 3 e967c071290c3bb9',
    'credentials 1 7c8c78d34b777e0c',
    'fee-quotes 1 f786aa4076c36396',
  ],
  postgres: [
    'schema 1 06ce9ac215cde3bb',
    'schema 2 2d49c0e713e33b55',
    'schema 3 cf7cc9e45f161df4',
    'schema 4 2a160d2e1bb984ac',
    'schema 5 b258589deec8942c',
  ],
}

/** The steps that a new store has stored. */
async function storedSteps(): Promise<readonly string[]> {
  if (testStore === 'postgres') {
    const database = await openTestDatabase()
    const rows = await database.ask(
      'select id, fingerprint from bursar.schema_migration order by 1',
    )
    await database.drop()
    return rows.map(([id, fingerprint]) => `schema ${id} ${String(fingerprint).slice(0, 16)}`)
  }
  const folder = temporaryFolder()
  const [records, credentials] = [join(folder, 'a.db'), join(folder, 'b.db')]
  await openSqliteStore(records, systemClock).close()
  await openSqliteCredentials(credentials).close()
  await openSqliteFeeQuotes(credentials, systemClock).close()
  const steps = [records, credentials].flatMap((path) => {
    const db = new DatabaseSync(path)
    const rows = db.prepare('select schema, id, fingerprint from schema_migration').all()
    db.close()
    return rows.map((row) => `${row.schema} ${row.id} ${String(row.fingerprint).slice(0, 16)}`)
  })
  rmSync(folder, { recursive: true })
  return steps
}

test('a released step is never edited', async () => {
  const stored = await storedSteps()
  for (const step of releasedSteps[testStore]) assert.ok(stored.includes(step), step)
})

test('PostgreSQL refuses a step that was edited after it had been applied', async () => {
  if (testStore !== 'postgres') return
  const database = await openTestDatabase()
  const owner = addressesOf(database.ownerUrl)
  const set = (value: string) =>
    database.ask(`update bursar.schema_migration set fingerprint = ${value} where id = 2`)
  const refusal = {
    name: 'ConfigError',
    message: /schema has another form of step 2 than this version.*Undo the edit/,
  }
  try {
    await set(`'edited'`)
    await assert.rejects(migratePostgres(owner, roles), refusal)
    await assert.rejects(withPrimary(owner, requireSchema), refusal)
    // A version without fingerprints has applied the step: what it applied is taken as it is.
    await set('null')
    assert.deepEqual(await migratePostgres(owner, roles), [])
    await withPrimary(owner, requireSchema)
    const [row] = await database.ask('select fingerprint from bursar.schema_migration where id = 2')
    assert.equal(row?.[0], migrations[1]?.fingerprint)
  } finally {
    await database.drop()
  }
})

test('PostgreSQL fills missing checksums at every migration', async () => {
  if (testStore !== 'postgres') return
  const database = await openTestDatabase()
  try {
    // An import by an earlier version that outlived the migration stores no checksum.
    for (const customer of ['acme', 'globex']) {
      await database.ask(`insert into bursar.fiat_account_full (customer_id, id, deleted, body)
        values ('${customer}', 'aaaaaaaa-0000-4000-8000-000000000001', false, '{}')`)
    }
    assert.deepEqual(await migratePostgres(addressesOf(database.ownerUrl), roles), [])
    const filled = await database.ask(
      'select customer_id, checksum::int8::text from bursar.fiat_account_full order by 1',
    )
    const expected = ['acme', 'globex'].map((name) => [name, String(bodyChecksum(name, '{}'))])
    assert.deepEqual(filled, expected)
  } finally {
    await database.drop()
  }
})

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
      // Records from before may lack the member.
      const indexes = (await place.ask(place.indexes)).map(String)
      const index = indexes.find((sql) => sql.includes('statement_by_status')) ?? ''
      assert.match(
        index,
        /\(customer_id, status, deleted, "?position"?\) where \(?status is not null/i,
      )
      assert.throws(() => recordMigration(3, dialect, twoReleases), RangeError)
    } finally {
      await place.close()
    }
  })

  test('give a kind that comes after the checksums its tables with checksums', async () => {
    const place = await openPlace()
    const { dialect } = place
    const released: readonly RecordStep[] = [
      { createKinds: ['statements'] },
      { addChecksums: true },
    ]
    const next: readonly RecordStep[] = [...released, { createKinds: ['fiat-accounts'] }]
    try {
      await place.run(`create table ${dialect.tableName('superseded')} (body text not null)`)
      for (const at of next.keys()) await place.run(recordMigration(at + 1, dialect, next))
      for (const table of ['statement', 'fiat_account', 'fiat_account_full', 'superseded']) {
        assert.deepEqual(await place.ask(`select checksum from ${dialect.tableName(table)}`), [])
      }
      assert.equal(recordMigration(2, dialect, next), recordMigration(2, dialect, released))
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

/** A store as the release before a step of records left it, and its migration by the program. */
type OldStore = Pick<Place, 'ask' | 'close'> & {
  readonly tableName: (table: string) => string
  migrate(): Promise<void>
}

const sharedTables = new URL(
  '../../src/store/sqlite/migrations/records/0001-records.sql',
  import.meta.url,
)

function openOldFile(lastStep: number): OldStore {
  const folder = temporaryFolder()
  const path = join(folder, 'old.db')
  closeSync(openSync(path, 'w', 0o600))
  const db = new DatabaseSync(path)
  for (let step = 1; step <= lastStep; step += 1) db.exec(recordMigration(step, sqliteDialect))
  db.exec(`${readFileSync(sharedTables, 'utf8')};
    create table schema_migration (schema text not null, id integer not null,
      applied_at text not null, primary key (schema, id)) strict, without rowid;
    insert into schema_migration values ('records', ${lastStep}, '')`)
  return {
    tableName: sqliteDialect.tableName,
    ask: async (sql) =>
      db
        .prepare(sql)
        .all()
        .map((row) => Object.values(row)),
    migrate: () => openSqliteStore(path, systemClock).close(),
    close: async () => {
      db.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function openOldDatabase(lastStep: number): Promise<OldStore> {
  const next = recordMigration(lastStep + 1, postgresDialect)
  const ids = migrations.filter(({ sql }) => sql.includes(next)).map(({ id }) => id)
  assert.equal(ids.length, 1, `step ${lastStep + 1} of records is one step of PostgreSQL's schema`)
  const database = await openTestDatabase()
  const owner = addressesOf(database.ownerUrl)
  const applied = migrations.filter(({ id }) => id < Number(ids[0]))
  await withPrimary(owner, async (connection) => {
    await connection.execute(`drop schema bursar cascade; create schema bursar;
      create table bursar.schema_migration (id integer primary key, applied_at timestamptz not null)`)
    for (const { id, sql } of applied) {
      await connection.execute(`${sql}; insert into bursar.schema_migration values (${id}, now())`)
    }
  })
  return {
    tableName: postgresDialect.tableName,
    ask: database.ask,
    migrate: async () => void (await migratePostgres(owner, roles)),
    close: database.drop,
  }
}

const person = '{"person_details":{"first_name":"Ada","last_name":"Example"}}'
const hostile = '{"note":"\\"fiat_account_owner\\":{\\"person_details\\":null}"}'

/** Owners as version 0.1 stored them, and as they are stored now. */
const owners = [
  ['{"person_details":null}', '{}'],
  [
    '{"person_details":null,"institution_details":{"name":"Example Ltd"}}',
    '{"institution_details":{"name":"Example Ltd"}}',
  ],
  [person, person],
] as const

/** Members that import refuses now; what is stored stays. */
const networks = '{"wire":{"fiat_account_owner_address":null},"rtp":{"account_number":"1"}}'

const bodyOf = (owner: string): string =>
  `{"fiat_network_instructions":${networks},"fiat_account_owner":${owner},"metadata":${hostile}}`

test('an old store gets checksums by its migration, new entity tags and no null person', async () => {
  const store = await (testStore === 'postgres' ? openOldDatabase(1) : openOldFile(1))
  const { tableName } = store
  const listed = [tableName('fiat_account'), tableName('fiat_deposit_instructions')]
  const full = tableName('fiat_account_full')
  try {
    for (const [at, [owner]] of owners.entries()) {
      const id = `aaaaaaaa-0000-4000-8000-00000000000${at}`
      const key = testStore === 'postgres' ? `false, '${at}'` : `0, x'0${at}'`
      const isDeleted = testStore === 'postgres' ? 'false' : '0'
      await store.ask(`insert into ${listed[0]} (customer_id, deleted, position, id, body, stored_at)
        values ('acme', ${key}, '${id}', '${bodyOf(owner)}', 1)`)
      await store.ask(`insert into ${listed[1]}
        (customer_id, deleted, position, id, memo_id, identity_id, profile_id, body, stored_at)
        values ('acme', ${key}, '${id}', 'MEMO${at}', 'i', 'p', '${bodyOf(owner)}', 1)`)
      await store.ask(`insert into ${full} (customer_id, id, deleted, body)
        values ('acme', '${id}', ${isDeleted}, '${bodyOf(owner)}')`)
    }
    for (const kind of ['fiat-accounts', 'fiat-deposit-instructions', 'statements']) {
      await store.ask(`insert into ${tableName('revision')} values ('acme', '${kind}', 41)`)
    }
    await store.migrate()
    for (const table of [...listed, full]) {
      const bodies = await store.ask(`select body from ${table} order by id`)
      assert.deepEqual(
        bodies.flat(),
        owners.map(([, owner]) => bodyOf(owner)),
        table,
      )
      const checksums = await store.ask(`select checksum from ${table} order by id`)
      assert.deepEqual(
        checksums.flat().map(Number),
        owners.map(([, owner]) => bodyChecksum('acme', bodyOf(owner))),
        table,
      )
    }
    const revisions = await store.ask(
      `select kind, changed_at from ${tableName('revision')} order by kind`,
    )
    assert.deepEqual(Object.fromEntries(revisions.map(([kind, at]) => [kind, Number(at)])), {
      'fiat-accounts': 42,
      'fiat-deposit-instructions': 42,
      statements: 41,
    })
  } finally {
    await store.close()
  }
})

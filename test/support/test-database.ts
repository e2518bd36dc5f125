import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPostgresUrl } from '@bursar/base'
import { withPrimary } from '../../packages/postgres/src/cluster/with-primary.ts'
import { migratePostgres } from '../../packages/postgres/src/schema/migrate.ts'
import { openSpools } from '../../packages/records/src/spool.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { testSealing } from './test-sealing.ts'

/** A new database with the schema, and a URL for each of the three roles. */
export type TestDatabase = {
  readonly ownerUrl: string
  /** Role `bursar`. */
  readonly url: string
  /** Role `bursar_operator`. */
  readonly operatorUrl: string
  readonly superuserUrl: string
  /** Runs a query as superuser, past row-level security. Returns the rows as text. */
  ask(sql: string): Promise<(string | null)[][]>
  drop(): Promise<void>
}

/** The master key of stores on PostgreSQL, which every audited command needs. */
export const testMasterKey = (): string => process.env.BURSAR_TEST_MASTER_KEY ?? ownMasterKey
const ownMasterKey = randomBytes(32).toString('base64')

export const roles = { app: 'bursar', operator: 'bursar_operator' }

/** For servers that a test opens with a role of its choice. */
export const anyRole = { primary: async () => {}, standby: async () => {} }

/** How a test's store imports. */
export const testLoads = {
  spools: openSpools({ folder: join(tmpdir(), 'bursar-test-spool'), bytesMax: 1e9 }),
  mergeMs: 60_000,
  sealing: testSealing,
}

export type StoreName = 'sqlite' | 'postgres'

/** The adapter of this run; `npm test` runs the store tests once on each. */
export const testStore: StoreName =
  process.env.BURSAR_TEST_STORE === 'postgres' ? 'postgres' : 'sqlite'

/** Started when the run has no shared server, as for a single test file. */
let ownServer: Promise<PostgresServer> | undefined

async function serverUrl(database: string, user: string): Promise<string> {
  const shared = process.env.BURSAR_TEST_POSTGRES_PORT
  if (shared !== undefined) return `postgres://${user}@127.0.0.1:${shared}/${database}`
  ownServer ??= startPostgres().then(async (server) => {
    await prepareServer(server)
    return server
  })
  return (await ownServer).url(user, database)
}

const TEMPLATE = 'bursar_template'
let made = 0

/** Creates the roles and the template database that tests copy. */
export async function prepareServer(server: PostgresServer): Promise<void> {
  await execute(
    server.url('postgres', 'postgres'),
    'create role owner login; create role bursar login; create role bursar_operator login',
  )
  await execute(server.url('postgres', 'postgres'), `create database ${TEMPLATE} owner owner`)
  await migratePostgres(addressesOf(server.url('owner', TEMPLATE)), roles)
}

export async function openTestDatabase(template = TEMPLATE): Promise<TestDatabase> {
  made += 1
  const name = `test_${process.pid}_${made}`
  const admin = await serverUrl('postgres', 'postgres')
  await execute(
    admin,
    `create database ${name} template ${template} owner owner strategy file_copy`,
  )
  const superuser = await serverUrl(name, 'postgres')
  return {
    ownerUrl: await serverUrl(name, 'owner'),
    superuserUrl: superuser,
    url: await serverUrl(name, 'bursar'),
    operatorUrl: await serverUrl(name, 'bursar_operator'),
    ask: (sql) =>
      withPrimary(addressesOf(superuser), async (connection) => {
        const rows = await connection.query({ text: sql })
        return rows.map((row) => row.map((value) => (value === null ? null : String(value))))
      }),
    drop: () => execute(admin, `drop database ${name} with (force)`),
  }
}

/** The databases that this process has not dropped. To drop one ends its sessions. */
export async function databasesOfProcess(): Promise<readonly (string | null)[]> {
  const admin = await serverUrl('postgres', 'postgres')
  return await withPrimary(addressesOf(admin), async (connection) => {
    const text = `select datname::text from pg_database where datname like 'test\\_${process.pid}\\_%'`
    return (await connection.query({ text })).map(([name]) => String(name))
  })
}

export const execute = (url: string, sql: string): Promise<void> =>
  withPrimary(addressesOf(url), (connection) => connection.execute(sql))

/** The statement by which a superuser stops the clock of a PostgreSQL store. */
export const stoppedClock = (at: bigint): string =>
  `create or replace function bursar.clock_microseconds() returns bigint
   language sql volatile parallel safe as $$ select ${at}::bigint $$`

export function addressesOf(url: string) {
  const addresses = readPostgresUrl(url)
  if (addresses === undefined) throw new Error('no database URL')
  return addresses
}

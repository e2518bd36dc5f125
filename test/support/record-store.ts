import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Clock, openLog, systemTime } from '@bursar/base'
import {
  type RecordInput,
  type RecordKind,
  type RecordRules,
  type Resource,
  resources,
} from '@bursar/contract'
import type { Entry } from '@bursar/intake'
import type { Sealing, Store } from '@bursar/records'
import {
  type EntryOptions,
  type ImportReport,
  importEntries,
} from '../../packages/intake/src/files/import-file.ts'
import { openServers } from '../../packages/postgres/src/cluster/servers.ts'
import {
  operatorSessions,
  readingSessions,
  type SessionSettings,
} from '../../packages/postgres/src/driver/sessions.ts'
import { openPostgresStore } from '../../packages/postgres/src/records/open-postgres-store.ts'
import { openSqliteStore } from '../../packages/sqlite/src/open-sqlite-store.ts'
import { temporaryFolder } from './harness.ts'
import {
  addressesOf,
  anyRole,
  openTestDatabase,
  type TestDatabase,
  testLoads,
  testStore,
} from './test-database.ts'
import { testSealing } from './test-sealing.ts'

/** A store for one test file, without an HTTP server. */
export type TestStore = {
  readonly store: Store
  take(
    kind: RecordKind,
    records: readonly unknown[],
    options?: Partial<EntryOptions>,
  ): Promise<ImportReport>
  exported(kind: RecordKind): Promise<RecordInput[]>
  /** The replaced versions of a record as lists showed them, oldest first. */
  history(id: string): Promise<{ storedAt: bigint; replacedAt: bigint; body: string }[]>
  /** Another process's store over the same data. It is closed with the first one. */
  opened(sealing: Sealing): Store
  /** Runs SQL past the store, as PostgreSQL's superuser. `bursar.` is removed for the file. */
  ask(sql: string): Promise<unknown[][]>
  close(): Promise<void>
}

export const rules: RecordRules = {
  statementTypes: new Set(['STATEMENT_TYPE_USDG_REWARD']),
  statementProducts: new Set(['USDG_REWARDS']),
  testnets: false,
}

export function resourceOf(kind: string): Resource {
  const found = resources.find((resource) => resource.kind === kind)
  if (found === undefined) throw new Error(`no kind ${kind}`)
  return found
}

/** Opens the store that BURSAR_TEST_STORE names. */
export const openTestStore = async (clock: Clock = systemTime.now): Promise<TestStore> =>
  withTaking(await (testStore === 'postgres' ? openOnPostgres(clock) : openOnSqlite(clock)))

/** Opens PostgreSQL, whatever BURSAR_TEST_STORE names, and exposes its database. */
export const openPostgresTestStore = async (clock: Clock = systemTime.now) =>
  withTaking(await openOnPostgres(clock))

function withTaking<O extends Opened>(opened: O): O & TestStore {
  const { store } = opened
  return {
    ...opened,
    take: (kind, records, options) => take(store, kind, records, options),
    exported: async (kind) => {
      const lines = await Array.fromAsync(store.operator.exportLines(resourceOf(kind), undefined))
      return lines.map((line) => JSON.parse(line))
    },
  }
}

/** Imports records into any store. */
export const take = (
  store: Store,
  kind: RecordKind,
  records: readonly unknown[],
  options: Partial<EntryOptions> = {},
): Promise<ImportReport> =>
  importEntries(store, resourceOf(kind), entriesOf(records), {
    dryRun: false,
    allowOlder: false,
    rules,
    ...options,
  })

type Opened = Pick<TestStore, 'store' | 'opened' | 'history' | 'ask' | 'close'>

const versionsOf = (table: string, id: string) =>
  `select stored_at, replaced_at, coalesce(masked, body) as body from ${table} where id = '${id}' order by replaced_at`

async function openOnSqlite(clock: Clock): Promise<Opened> {
  const folder = temporaryFolder()
  const path = join(folder, 'records.db')
  const stores = [openSqliteStore(path, clock, testSealing)]
  const [store] = stores as [Store]
  return {
    store,
    opened: (sealing) => {
      const other = openSqliteStore(path, clock, sealing)
      stores.push(other)
      return other
    },
    ask: async (sql) => {
      using db = new DatabaseSync(path)
      const rows = db.prepare(sql.replaceAll('bursar.', '')).all()
      return rows.map((row) => Object.values(row))
    },
    history: async (id) => {
      const db = new DatabaseSync(path)
      const statement = db.prepare(versionsOf('history', id))
      statement.setReadBigInts(true)
      const rows = statement.all()
      db.close()
      return rows.map((row) => versionOf([row.stored_at, row.replaced_at, row.body]))
    },
    close: async () => {
      for (const one of stores) await one.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const openServersAs = (url: string, parameters: SessionSettings) =>
  openServers({
    primaries: addressesOf(url),
    standbys: [],
    parameters,
    requireRole: anyRole,
    connectionsMax: 4,
    withinMs: 60_000,
    log: openLog('silent'),
  })

/** Other sessions of the operator with a test's database. */
export const openTestOperator = ({ operatorUrl }: Pick<TestDatabase, 'operatorUrl'>) =>
  openServersAs(operatorUrl, operatorSessions)

async function openOnPostgres(clock: Clock) {
  const database = await openTestDatabase()
  const customers = await openServersAs(database.url, readingSessions(60_000))
  const operator = await openTestOperator(database)
  const stores: Store[] = []
  const opened = (sealing: Sealing) => {
    const store = openPostgresStore({ customers, operator }, clock, { ...testLoads, sealing })
    stores.push(store)
    return store
  }
  return {
    database,
    customers,
    store: opened(testSealing),
    opened,
    ask: async (sql: string) => await database.ask(sql),
    history: async (id: string) => {
      const rows = await database.ask(versionsOf('bursar.history', id))
      return rows.map(versionOf)
    },
    close: async () => {
      await Promise.all(stores.map((store) => store.close()))
      await customers.close()
      await operator.close()
      await database.drop()
    },
  }
}

const versionOf = ([storedAt, replacedAt, body]: readonly unknown[]) => ({
  storedAt: BigInt(String(storedAt)),
  replacedAt: BigInt(String(replacedAt)),
  body: String(body),
})

export async function* entriesOf(records: readonly unknown[]): AsyncIterable<Entry> {
  for (const [at, value] of records.entries()) yield { line: at + 1, value }
}

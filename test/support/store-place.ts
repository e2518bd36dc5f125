import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Clock, limitNamed, openLog, systemTime } from '@bursar/base'
import type { AuditDeps, AuditLog, CredentialStore, FeeQuoteStore } from '@bursar/records'
import { openServers, type Servers } from '../../packages/postgres/src/cluster/servers.ts'
import { openPostgresFeeQuotes } from '../../packages/postgres/src/fee-quotes.ts'
import { openPostgresAudit } from '../../packages/postgres/src/open-postgres-audit.ts'
import { openPostgresCredentials } from '../../packages/postgres/src/open-postgres-credentials.ts'
import { openSqliteFeeQuotes } from '../../packages/sqlite/src/fee-quotes.ts'
import { openSqliteAudit } from '../../packages/sqlite/src/open-sqlite-audit.ts'
import { openSqliteCredentials } from '../../packages/sqlite/src/open-sqlite-credentials.ts'
import { temporaryFolder } from './harness.ts'
import {
  addressesOf,
  anyRole,
  openTestDatabase,
  stoppedClock,
  type TestDatabase,
  testStore,
} from './test-database.ts'

/** A test's own credentials and quotes, on the adapter of this run. */
export type StorePlace = {
  /** How another process opens the stores: a file path, or the URL of role `bursar`. */
  readonly where: string
  openCredentials(as?: 'server' | 'command'): Promise<CredentialStore>
  openQuotes(): Promise<FeeQuoteStore>
  /** Opens the audit log as another process does. */
  openAudit(deps: AuditDeps): Promise<AuditLog>
  /** Stops the clock of the store at a time. */
  setClock(at: bigint): Promise<void>
  /** Runs a query as PostgreSQL's superuser. Returns the rows as text. */
  ask: TestDatabase['ask']
  /** Closes the opened stores and removes the files or the database. */
  close(): Promise<void>
}

export async function openStorePlace(): Promise<StorePlace> {
  const { where, remove, ask } = await (testStore === 'postgres' ? newDatabase() : newFile())
  const opened: { close(): Promise<void> }[] = []
  let clock = systemTime.now
  const closedOnce = <T extends { close(): Promise<void> }>(store: T): T => {
    let closing: Promise<void> | undefined
    const once = {
      ...store,
      close: () => {
        closing ??= store.close()
        return closing
      },
    }
    opened.push(once)
    return once
  }
  return {
    where,
    ask,
    openCredentials: async (as = 'command') => closedOnce(await openCredentialsAt(where, as)),
    openQuotes: async () => closedOnce(await openQuotesAt(where, () => clock())),
    openAudit: async (deps) => closedOnce(await openAuditAt(where, deps)),
    setClock: async (at) => {
      clock = () => at
      if (isUrl(where)) await ask(stoppedClock(at))
    },
    close: async () => {
      await Promise.all(opened.map((store) => store.close()))
      await remove()
    },
  }
}

/** A place that is closed after its test. */
export async function newStorePlace(context: TestContext): Promise<StorePlace> {
  const place = await openStorePlace()
  context.after(place.close)
  return place
}

async function newFile() {
  const folder = temporaryFolder()
  const remove = async () => rmSync(folder, { recursive: true, force: true })
  const ask = () => Promise.reject(new Error('a file has no superuser'))
  return { where: join(folder, 'bursar.credentials.db'), remove, ask }
}

async function newDatabase() {
  const { url, drop, ask } = await openTestDatabase()
  return { where: url, remove: drop, ask }
}

const isUrl = (where: string): boolean => where.startsWith('postgres://')

/** Opens the store with the role of the server or of the operator's commands. */
export async function openCredentialsAt(
  where: string,
  as: 'server' | 'command',
): Promise<CredentialStore> {
  if (!isUrl(where)) return openSqliteCredentials(where)
  const servers = await openTestServers(as === 'server' ? where : operatorUrl(where))
  const store = openPostgresCredentials(servers)
  return { ...store, close: () => store.close().then(servers.close) }
}

/** Opens the quotes. PostgreSQL uses its own clock, which `stoppedClock` can stop. */
export async function openQuotesAt(where: string, clock: Clock): Promise<FeeQuoteStore> {
  if (!isUrl(where)) return openSqliteFeeQuotes(where, clock)
  const customers = await openTestServers(where)
  const operator = await openTestServers(operatorUrl(where))
  const store = openPostgresFeeQuotes({ customers, operator })
  const close = async () => {
    await store.close()
    await Promise.all([customers.close(), operator.close()])
  }
  return { ...store, close }
}

/** As the role of a server, which may only insert. */
async function openAuditAt(where: string, deps: AuditDeps): Promise<AuditLog> {
  if (!isUrl(where)) return openSqliteAudit(where, () => {}, deps)
  const servers = await openTestServers(where)
  const log = openPostgresAudit(servers, limitNamed('auditWriteMs'), deps)
  return { ...log, close: () => log.close().then(servers.close) }
}

export const operatorUrl = (url: string): string => url.replace('//bursar@', '//bursar_operator@')

type TestServersOptions = {
  /** The URL of a standby to read from. */
  readonly standby?: string
  readonly withinMs?: number
}

/** Opens the PostgreSQL servers of a URL. */
export const openTestServers = (
  url: string,
  { standby, withinMs = 60_000 }: TestServersOptions = {},
): Promise<Servers> =>
  openServers({
    primaries: addressesOf(url),
    standbys: standby === undefined ? [] : addressesOf(standby),
    parameters: { statement_timeout: withinMs, lock_timeout: withinMs },
    requireRole: anyRole,
    connectionsMax: 4,
    withinMs,
    log: openLog('silent'),
  })

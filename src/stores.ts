import { existsSync } from 'node:fs'
import type { Clock } from './platform/clock.ts'
import { type Config, ConfigError } from './platform/config.ts'
import type { Logger } from './platform/log.ts'
import { readPostgresUrl } from './platform/postgres-url.ts'
import type { CredentialStore } from './store/credentials.ts'
import type { FeeQuoteStore } from './store/fee-quotes.ts'
import type { StoredRows } from './store/integrity/stored-row.ts'
import { withPrimary } from './store/postgres/cluster/with-primary.ts'
import { openPostgresCredentials } from './store/postgres/credentials/credentials.ts'
import { openPostgresFeeQuotes } from './store/postgres/fee-quotes/fee-quotes.ts'
import {
  openOperatorServers,
  openServiceSessions,
  type PostgresSessions,
} from './store/postgres/open-sessions.ts'
import { openPostgresStore } from './store/postgres/records/open-records.ts'
import { ownerRows, schemaFaults } from './store/postgres/schema/check-schema.ts'
import type { Roles } from './store/postgres/schema/grants.ts'
import { migratePostgres } from './store/postgres/schema/migrate.ts'
import type { Store } from './store/records.ts'
import { sqliteFiles } from './store/sqlite/backup/store-files.ts'
import { openSqliteCredentials } from './store/sqlite/credentials.ts'
import { openSqliteFeeQuotes } from './store/sqlite/fee-quotes.ts'
import { claimIssuer, type IssuerClaim } from './store/sqlite/issuer-claim.ts'
import { appliedSteps } from './store/sqlite/migrate.ts'
import { openSqliteStore } from './store/sqlite/open-records.ts'
import type { StoreFiles } from './store/store-files.ts'
import type { Keyring } from './vault/keyring.ts'
import { openVault } from './vault/open.ts'
import { systemRandom } from './vault/random.ts'

/** The stores of one database, each opened at its first use. No other file names an adapter. */
export type Stores = {
  records(): Store
  credentials(): CredentialStore
  quotes(): FeeQuoteStore
  keyring(credentials: CredentialStore): Promise<Keyring>
  /**
   * Declares that this process serves the store under an issuer. Resolves with the issuer of
   * another live process, if it differs.
   */
  claimIssuer(issuer: string): Promise<string | undefined>
  /** Whether this process may serve the operator: ingest, and the sweep of old quotes. */
  readonly servesOperator: boolean
  close(): Promise<void>
}

export type StoreDeps = { readonly config: Config; readonly clock: Clock; readonly log: Logger }

/**
 * Opens a server's stores: DATABASE_URL and its standbys for customers, OPERATOR_DATABASE_URL for
 * the operator.
 */
export async function openServiceStores(sources: StoreDeps): Promise<Stores> {
  const primaries = readPostgresUrl(sources.config.databaseUrl)
  if (primaries === undefined) return embeddedStores(sources)
  return postgresStores(sources, await openServiceSessions(sources, primaries))
}

/** Opens the stores of every other command, which sees all customers. */
export async function openOperatorStores(sources: StoreDeps): Promise<Stores> {
  const { databaseUrl, operatorDatabaseUrl } = sources.config
  const url = operatorDatabaseUrl ?? databaseUrl
  if (readPostgresUrl(url) === undefined) return embeddedStores(sources)
  const operator = await openOperatorServers(sources, url)
  const { close } = operator
  return postgresStores(sources, { customers: operator, credentials: operator, operator, close })
}

/**
 * Brings the schema up to date and returns the applied steps, such as `records 2`. On PostgreSQL
 * this runs as the owner and grants the roles their rights. Opening the embedded store applies its
 * steps.
 */
export async function migrateStores(sources: StoreDeps, roles: Roles): Promise<readonly string[]> {
  const addresses = readPostgresUrl(sources.config.databaseUrl)
  if (addresses !== undefined) {
    return (await migratePostgres(addresses, roles)).map((id) => `schema ${id}`)
  }
  const path = sqlitePath(sources.config.databaseUrl)
  const stepsNow = () => [path, beside(path, 'credentials.db')].flatMap(appliedSteps)
  const before = new Set(stepsNow())
  const stores = embeddedStores(sources)
  stores.records()
  stores.credentials()
  stores.quotes()
  await stores.close()
  return stepsNow().filter((step) => !before.has(step))
}

/**
 * Checks the store that `migrateStores` opens: the schema and, on the embedded store, every page of
 * the files. Passes the stored records to `verifyRecords`. On PostgreSQL this runs as the owner.
 */
export async function checkStore<T>(
  sources: StoreDeps,
  verifyRecords: (rows: StoredRows) => Promise<T>,
): Promise<{ readonly faults: readonly string[]; readonly records: T }> {
  const addresses = readPostgresUrl(sources.config.databaseUrl)
  if (addresses !== undefined) {
    return await withPrimary(addresses, async (owner) => ({
      faults: await schemaFaults(owner),
      records: await verifyRecords(await ownerRows(owner)),
    }))
  }
  const stores = embeddedStores(sources)
  try {
    const faults = [
      ...(await stores.records().integrityFaults()),
      ...(await stores.credentials().integrityFaults()),
    ]
    return { faults, records: await verifyRecords(stores.records().operator.rows) }
  } finally {
    await stores.close()
  }
}

/**
 * Guards read-only commands: a mistyped path must not create an empty store. Throws a ConfigError.
 */
export function requireStore({ databaseUrl, operatorDatabaseUrl }: Config): void {
  const url = operatorDatabaseUrl ?? databaseUrl
  if (readPostgresUrl(url) !== undefined) return
  const path = sqlitePath(url)
  // `client create` makes the file of credentials alone.
  if (existsSync(path) || existsSync(beside(path, 'credentials.db'))) return
  throw new ConfigError(
    `there is no store at ${sqlitePath(url)}; import, migrate and serve make one`,
  )
}

/** The files of the embedded store. Undefined on PostgreSQL, which has its own tools. */
export function storeFiles({ databaseUrl, operatorDatabaseUrl }: Config): StoreFiles | undefined {
  const url = operatorDatabaseUrl ?? databaseUrl
  if (readPostgresUrl(url) !== undefined) return undefined
  return sqliteFiles(sqlitePath(url), beside(sqlitePath(url), 'credentials.db'))
}

function postgresStores(sources: StoreDeps, opened: PostgresSessions): Stores {
  const { customers, operator } = opened
  const records = openOnce(() =>
    openPostgresStore({ customers, operator: operator ?? customers }, sources.clock, sources.log),
  )
  const credentials = openOnce(() => openPostgresCredentials(opened.credentials))
  const quotes = openOnce(() =>
    openPostgresFeeQuotes({ customers, operator, withinMs: sources.config.databaseTimeoutMs }),
  )
  return {
    records: records.open,
    credentials: credentials.open,
    quotes: quotes.open,
    keyring: (store) => openKeyring(sources, store, undefined),
    claimIssuer: customers.claimIssuer,
    servesOperator: operator !== undefined,
    close: async () => {
      await credentials.close()
      await quotes.close()
      await opened.close()
    },
  }
}

/** Clients, keys and quotes have their own file, so that an import never blocks them. */
function embeddedStores(sources: StoreDeps): Stores {
  const path = sqlitePath(sources.config.databaseUrl)
  const records = openOnce(() => openSqliteStore(path, sources.clock, sources.log))
  const credentials = openOnce(() => openSqliteCredentials(beside(path, 'credentials.db')))
  const quotes = openOnce(() => openSqliteFeeQuotes(beside(path, 'credentials.db')))
  let claim: IssuerClaim | undefined
  return {
    records: records.open,
    credentials: credentials.open,
    quotes: quotes.open,
    keyring: (store) => openKeyring(sources, store, beside(path, 'master-key')),
    claimIssuer: async (issuer) => {
      claim = claimIssuer(beside(path, 'issuer.db'), issuer)
      return claim.other
    },
    servesOperator: true,
    close: async () => {
      claim?.release()
      await quotes.close()
      await credentials.close()
      await records.close()
    },
  }
}

function openOnce<S extends { close(): Promise<void> }>(open: () => S) {
  let opened: S | undefined
  return {
    open: (): S => {
      opened ??= open()
      return opened
    },
    close: async () => {
      await opened?.close()
    },
  }
}

/** `data/bursar.db` → `data/bursar.credentials.db`: the path of a file beside the records. */
const beside = (path: string, ending: string): string => `${path.replace(/\.db$/, '')}.${ending}`

const sqlitePath = (databaseUrl: string): string => databaseUrl.replace(/^sqlite:/, '')

function openKeyring(
  { config, clock }: StoreDeps,
  store: CredentialStore,
  keyFile: string | undefined,
): Promise<Keyring> {
  return openVault({
    store,
    masterKey: config.masterKey,
    previousMasterKey: config.previousMasterKey,
    keyFile,
    clock,
    random: systemRandom,
  })
}

import { existsSync } from 'node:fs'
import type { Clock } from './platform/clock.ts'
import { type Config, ConfigError } from './platform/config.ts'
import { limits } from './platform/limits.ts'
import type { Logger } from './platform/log.ts'
import { readPostgresUrl, type ServerAddress } from './platform/postgres-url.ts'
import type { CredentialStore } from './store/credentials.ts'
import type { FeeQuoteStore } from './store/fee-quotes.ts'
import { openServers, type Servers, type ServersDeps } from './store/postgres/cluster/servers.ts'
import { withPrimary } from './store/postgres/cluster/with-primary.ts'
import { openPostgresCredentials } from './store/postgres/credentials/credentials.ts'
import { loadingSessions, readingSessions } from './store/postgres/driver/sessions.ts'
import { openPostgresFeeQuotes } from './store/postgres/fee-quotes/fee-quotes.ts'
import { openPostgresStore } from './store/postgres/records/open-records.ts'
import type { Roles } from './store/postgres/schema/grants.ts'
import { migratePostgres, requireSchema } from './store/postgres/schema/migrate.ts'
import { requireCustomersRole, requireOperatorRole } from './store/postgres/schema/roles.ts'
import type { Store } from './store/records.ts'
import { sqliteFiles } from './store/sqlite/backup/store-files.ts'
import { openSqliteCredentials } from './store/sqlite/credentials.ts'
import { openSqliteFeeQuotes } from './store/sqlite/fee-quotes.ts'
import { claimIssuer, type IssuerClaim } from './store/sqlite/issuer-claim.ts'
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
  const { databaseUrl, operatorDatabaseUrl, databaseReadUrls } = sources.config
  const primaries = readPostgresUrl(databaseUrl)
  if (primaries === undefined) return embeddedStores(sources)
  const requireRole = {
    primary: requireCustomersRole('DATABASE_URL'),
    standby: requireCustomersRole('DATABASE_READ_URLS'),
  }
  await withPrimary(primaries, async (connection) => {
    await requireSchema(connection)
    await requireRole.primary(connection)
  })
  await using opened = new AsyncDisposableStack()
  const open = async (opening: Promise<Servers>) =>
    opened.adopt(await opening, (servers) => servers.close())
  const reading = {
    standbys: databaseReadUrls.flatMap((url) => readPostgresUrl(url) ?? []),
    parameters: readingSessions(sources.config.databaseTimeoutMs),
    requireRole,
  }
  const customers = await open(openFor(sources, primaries, reading))
  const connectionsMax = limits.credentialSessionsMax
  const credentials = await open(openFor(sources, primaries, { ...reading, connectionsMax }))
  const operator =
    operatorDatabaseUrl === undefined
      ? undefined
      : await open(openOperator(sources, operatorDatabaseUrl))
  const stack = opened.move()
  const close = () => stack.disposeAsync()
  return postgresStores(sources, { customers, credentials, operator, close })
}

/** Opens the stores of every other command, which sees all customers. */
export async function openOperatorStores(sources: StoreDeps): Promise<Stores> {
  const { databaseUrl, operatorDatabaseUrl } = sources.config
  const url = operatorDatabaseUrl ?? databaseUrl
  if (readPostgresUrl(url) === undefined) return embeddedStores(sources)
  const operator = await openOperator(sources, url)
  const { close } = operator
  return postgresStores(sources, { customers: operator, credentials: operator, operator, close })
}

/**
 * Brings the schema up to date. On PostgreSQL this runs as the owner, grants the roles their rights
 * and returns the applied steps. Opening the embedded store applies its steps.
 */
export async function migrateStores(sources: StoreDeps, roles: Roles): Promise<readonly number[]> {
  const addresses = readPostgresUrl(sources.config.databaseUrl)
  if (addresses !== undefined) return await migratePostgres(addresses, roles)
  const stores = embeddedStores(sources)
  stores.records()
  stores.credentials()
  stores.quotes()
  await stores.close()
  return []
}

/**
 * Guards read-only commands: a mistyped path must not create an empty store. Throws a ConfigError.
 */
export function requireStore({ databaseUrl, operatorDatabaseUrl }: Config): void {
  const url = operatorDatabaseUrl ?? databaseUrl
  if (readPostgresUrl(url) !== undefined || existsSync(sqlitePath(url))) return
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

async function openOperator(sources: StoreDeps, url: string): Promise<Servers> {
  const primaries = readPostgresUrl(url) ?? []
  await withPrimary(primaries, async (connection) => {
    await requireSchema(connection)
    await requireOperatorRole(connection)
  })
  const requireRole = { primary: requireOperatorRole, standby: requireOperatorRole }
  return await openFor(sources, primaries, {
    standbys: [],
    parameters: loadingSessions,
    requireRole,
  })
}

type Use = Pick<ServersDeps, 'standbys' | 'parameters' | 'requireRole'> & {
  readonly connectionsMax?: number
}

function openFor(
  { config, log }: StoreDeps,
  primaries: readonly ServerAddress[],
  use: Use,
): Promise<Servers> {
  return openServers({
    connectionsMax: config.databaseConnectionsMax,
    ...use,
    primaries,
    withinMs: config.databaseTimeoutMs,
    lagMsMax: config.replicaLagMsMax,
    log,
  })
}

type Opened = {
  readonly customers: Servers
  /** Sessions of their own, so that a flood of logins takes none from readers of records. */
  readonly credentials: Servers
  readonly operator: Servers | undefined
  close(): Promise<void>
}

function postgresStores(sources: StoreDeps, opened: Opened): Stores {
  const { customers, operator } = opened
  const records = openOnce(() =>
    openPostgresStore({ customers, operator: operator ?? customers }, sources.clock),
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
  const records = openOnce(() => openSqliteStore(path, sources.clock))
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

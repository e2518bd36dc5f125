import { openBackground } from './background.ts'
import type { AuditEntry } from './contract/audit-entry.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import type { Check } from './platform/finding.ts'
import { openOnce } from './platform/open-once.ts'
import { readPostgresUrl } from './platform/postgres-url.ts'
import type { AuditDeps, AuditLog, AuditReader } from './store/audit.ts'
import type { CredentialStore } from './store/credentials.ts'
import type { StoredRows } from './store/integrity/stored-rows.ts'
import type { OpenedStores, StoreDeps, StoreFiles } from './store/opened-stores.ts'
import type { Roles } from './store/postgres/schema/grants.ts'
import { sqliteFiles } from './store/sqlite/backup/sqlite-files.ts'
import { describingExhaustion } from './store/sqlite/database.ts'
import { openSqliteFeeQuotes } from './store/sqlite/fee-quotes.ts'
import { embeddedChecks } from './store/sqlite/files/embedded-checks.ts'
import { openedFiles } from './store/sqlite/files/opened-files.ts'
import {
  besidePath,
  isVacant,
  isWhole,
  keyFileBeside,
  requireFiles,
  type StorePaths,
  storePaths,
} from './store/sqlite/files/require-files.ts'
import { watchFiles } from './store/sqlite/files/watch-files.ts'
import { claimIssuer, type IssuerClaim, isClaimed } from './store/sqlite/issuer-claim.ts'
import { appliedAt, appliedSteps } from './store/sqlite/migrate.ts'
import { openSqliteAudit, openSqliteAuditReader } from './store/sqlite/open-sqlite-audit.ts'
import { openSqliteCredentials } from './store/sqlite/open-sqlite-credentials.ts'
import { openSqliteImports } from './store/sqlite/open-sqlite-imports.ts'
import { openSqliteStore } from './store/sqlite/open-sqlite-store.ts'
import { openSandboxState } from './store/sqlite/sandbox/open-sandbox-state.ts'
import { StoreUnavailable } from './store/unavailable.ts'
import { printInstant } from './values/instant.ts'
import type { Keyring } from './vault/keyring.ts'
import { openVault } from './vault/open-vault.ts'
import type { PurposeKeyStore } from './vault/purpose-key.ts'
import { systemRandom } from './vault/random.ts'

/** The stores of one database and the keys that they keep. No other file names an adapter. */
export type Stores = OpenedStores & {
  keyring(credentials: CredentialStore): Promise<Keyring>
  /** The audit log of this process. Its first entry says which schema a new log has begun with. */
  auditLog(keyring: Keyring): Promise<AuditLog>
}

/** The audit log for the owner of the store, or its auditor. */
export type AuditArchive = {
  readonly reader: AuditReader
  /** The keys of the store. Makes none. */
  keyring(): Promise<Keyring>
  /** A chain of the owner. */
  openLog(keyring: Keyring): AuditLog
}

export type { StoreDeps }

/** The PostgreSQL half, which only its users load. */
const loadPostgres = () => import('./store/postgres/open-stores.ts')

/**
 * Opens a server's stores: DATABASE_URL and its standbys for customers, OPERATOR_DATABASE_URL for
 * the operator.
 */
export async function openServiceStores(sources: StoreDeps): Promise<Stores> {
  const primaries = readPostgresUrl(sources.config.databaseUrl)
  if (primaries === undefined) return embeddedStores(sources, 'watched')
  const { openServicePostgres } = await loadPostgres()
  return withKeyring(sources, await openServicePostgres(sources, primaries))
}

/** Opens the stores of every other command, which sees all customers. */
export async function openOperatorStores(sources: StoreDeps): Promise<Stores> {
  const { databaseUrl, operatorDatabaseUrl } = sources.config
  const url = operatorDatabaseUrl ?? databaseUrl
  if (readPostgresUrl(url) === undefined) return embeddedStores(sources, 'opened')
  const { openOperatorPostgres } = await loadPostgres()
  return withKeyring(sources, await openOperatorPostgres(sources, url))
}

/** Opens the stores of a process that imports for a server, with the role of the operator. */
export async function openWriterStores(sources: StoreDeps): Promise<Stores> {
  const { databaseUrl } = sources.config
  // A server on the embedded store ignores the operator's URL.
  return readPostgresUrl(databaseUrl) === undefined
    ? embeddedStores(sources, 'opened')
    : await openOperatorStores(sources)
}

/**
 * Makes an embedded store where there is none, with both its databases. A path that has one of them
 * stays as it is: the other is lost, and the store must not be opened without it.
 */
export async function createStore(sources: StoreDeps): Promise<void> {
  const { databaseUrl: url } = sources.config
  if (readPostgresUrl(url) === undefined && isVacant(storePaths(url))) await openAll(sources)
}

type Creation = 'nothing' | 'a whole store' | 'what is missing'

type Migration = Roles & {
  readonly creates: Creation
  readonly refusesServed: boolean
  /** Runs the work, and writes it to the audit log, if the store has one before. */
  readonly recorded: (log: AuditLog | undefined, work: Migrating) => ReturnType<Migrating>
}

type Migrating = () => Promise<readonly string[]>

/**
 * Brings the schema up to date and returns the names of the applied steps. On PostgreSQL this runs
 * as the owner and grants the roles their rights. Opening the embedded store applies its steps. `a
 * whole store` is created only where both of its databases are missing. A server knows
 * one schema, so `refusesServed` throws a StoreUnavailable while a server uses an embedded store.
 */
export async function migrateStores(
  sources: StoreDeps,
  { creates, refusesServed, recorded, ...roles }: Migration,
): Promise<readonly string[]> {
  const addresses = readPostgresUrl(sources.config.databaseUrl)
  if (addresses !== undefined) {
    const { migratePostgres, poolerSettings, withOwnedAudit } = await loadPostgres()
    const settings = poolerSettings(sources.config)
    return await withOwnedAudit(addresses, async (owned) => {
      const hasLog = await owned.hasLog()
      const log = hasLog ? owned.openLog(await ownedKeys(sources, owned.keys)) : undefined
      return await recorded(log, () => migratePostgres(addresses, roles, { settings }))
    })
  }
  const paths = storePaths(sources.config.databaseUrl)
  const isLegal = creates === 'a whole store' ? isVacant(paths) : creates === 'what is missing'
  if (!isLegal) requireFiles(paths)
  if (refusesServed && isClaimed(claimPath(paths))) {
    throw new StoreUnavailable(
      `a server uses the store at ${paths.records}; stop it, then migrate. Nothing was changed.`,
    )
  }
  const stepsNow = () => [paths.records, paths.credentials].flatMap(appliedSteps)
  const before = new Set(stepsNow())
  const work = async () => {
    await openAll(sources)
    return stepsNow().filter((step) => !before.has(step))
  }
  if (!isWhole(paths)) return await work()
  const stores = embeddedStores(sources, 'opened')
  try {
    const credentials = stores.credentials()
    const hasLog = (await credentials.readPurposeKeys()).length > 0
    const log = hasLog ? await stores.auditLog(await stores.keyring(credentials)) : undefined
    return await recorded(log, work)
  } finally {
    await stores.close()
  }
}

/** Opens and closes each part of an embedded store, which creates and migrates it. */
async function openAll(sources: StoreDeps): Promise<void> {
  const stores = embeddedStores(sources, 'created')
  try {
    for (const open of [stores.records, stores.credentials, stores.quotes]) open()
  } finally {
    await stores.close()
  }
}

/**
 * Checks the store that `migrateStores` opens: the schema and, on the embedded store, every page of
 * the files. Passes the stored records to `checkRecords`. On PostgreSQL this runs as the owner.
 */
export async function checkStore<T>(
  sources: StoreDeps,
  checkRecords: (rows: StoredRows) => Promise<T>,
): Promise<{ readonly faults: readonly string[]; readonly records: T }> {
  const addresses = readPostgresUrl(sources.config.databaseUrl)
  if (addresses !== undefined) {
    return await (await loadPostgres()).checkPostgres(addresses, checkRecords)
  }
  const stores = embeddedStores(sources, 'opened')
  try {
    const parts = [stores.records(), stores.credentials()]
    const faults = await Promise.all(parts.map((part) => part.integrityFaults()))
    return { faults: faults.flat(), records: await checkRecords(stores.records().operator.rows) }
  } finally {
    await stores.close()
  }
}

/** Throws a ConfigError if a database of the embedded store is missing. */
export function requireStore({ databaseUrl, operatorDatabaseUrl }: Config): void {
  const url = operatorDatabaseUrl ?? databaseUrl
  if (readPostgresUrl(url) === undefined) requireFiles(storePaths(url))
}

/** What `doctor` checks of a store before anything opens it. Changes nothing. */
export async function storeChecks(config: Config, clock: Clock): Promise<readonly Check[]> {
  if (readPostgresUrl(config.databaseUrl) === undefined) {
    return embeddedChecks(storePaths(config.databaseUrl))
  }
  return (await loadPostgres()).postgresChecks({ config, clock })
}

/** When PostgreSQL last archived a file of its log, in microseconds since 1970, UTC. */
export async function lastArchivedAt({ databaseUrl }: Config): Promise<bigint | undefined> {
  return await (await loadPostgres()).lastArchivedAt(readPostgresUrl(databaseUrl) ?? [])
}

/** Opens the audit log alone. On PostgreSQL as the owner of the database, or its auditor. */
export async function withAuditArchive<T>(
  sources: StoreDeps,
  work: (archive: AuditArchive) => Promise<T>,
): Promise<T> {
  const { config, clock } = sources
  const addresses = readPostgresUrl(config.databaseUrl)
  const vault = { ...keySources(sources), readsOnly: true }
  if (addresses !== undefined) {
    const { withOwnedAudit } = await loadPostgres()
    return await withOwnedAudit(addresses, (owned) =>
      work({
        reader: owned.reader,
        keyring: () => openVault({ store: owned.keys, ...vault, keyFile: undefined }),
        openLog: (keyring) => owned.openLog({ clock, key: () => keyring.current('audit') }),
      }),
    )
  }
  const paths = storePaths(config.databaseUrl)
  const stores = embeddedStores(sources, 'opened')
  const reader = openSqliteAuditReader(paths.credentials)
  try {
    return await work({
      reader,
      keyring: () =>
        openVault({ store: stores.credentials(), ...vault, keyFile: keyFileOf(sources, paths) }),
      openLog: (keyring) => stores.audit(() => keyring.current('audit')),
    })
  } finally {
    reader.close()
    await stores.close()
  }
}

async function ownedKeys(sources: StoreDeps, store: PurposeKeyStore): Promise<AuditDeps> {
  const sought = { ...keySources(sources), store, keyFile: undefined, readsOnly: true }
  const keyring = await openVault(sought)
  return { clock: sources.clock, key: () => keyring.current('audit') }
}

/** The files of the embedded store. Undefined on PostgreSQL, which has its own tools. */
export function storeFiles({ databaseUrl, operatorDatabaseUrl }: Config): StoreFiles | undefined {
  const url = operatorDatabaseUrl ?? databaseUrl
  return readPostgresUrl(url) === undefined ? sqliteFiles(storePaths(url)) : undefined
}

/** The file on which every server of an embedded store holds a lock. */
const claimPath = ({ records }: StorePaths): string => besidePath(records, 'issuer.db')

/** Clients, keys and quotes have their own file, so that an import never blocks them. */
function embeddedStores(sources: StoreDeps, mode: 'opened' | 'created' | 'watched'): Stores {
  const { config, clock, log, background = openBackground(clock), metrics } = sources
  const paths = storePaths(config.databaseUrl)
  if (mode !== 'created') describingExhaustion(() => requireFiles(paths))
  const files = openedFiles()
  const noting = <S>(path: string, open: (path: string) => S) => {
    const opened = describingExhaustion(() => open(path))
    files.note(path)
    return opened
  }
  const { records: recordsPath, credentials: credentialsPath } = paths
  const records = openOnce(() =>
    noting(recordsPath, (path) => openSqliteStore(path, clock, log, background, metrics)),
  )
  const credentials = openOnce(() =>
    noting(credentialsPath, (path) => openSqliteCredentials(path, undefined, metrics)),
  )
  const quotes = openOnce(() =>
    noting(credentialsPath, (path) => openSqliteFeeQuotes(path, clock, metrics)),
  )
  const imports = openOnce(() =>
    noting(credentialsPath, (path) =>
      openSqliteImports(path, { clock, background, log, mergesHere: mode !== 'watched' }),
    ),
  )
  const sandbox = openOnce(() => openSandboxState(paths, clock))
  const watch =
    mode === 'watched'
      ? watchFiles({ files, written: credentialsPath, log, background })
      : undefined
  const confirmIntact = watch?.confirmIntact ?? files.confirm
  const audit = openOnce((key: AuditDeps['key']) =>
    noting(credentialsPath, (path) =>
      openSqliteAudit(path, confirmIntact, { clock, key, metrics }),
    ),
  )
  let claim: IssuerClaim | undefined
  const stores: OpenedStores = {
    records: records.open,
    credentials: credentials.open,
    quotes: quotes.open,
    imports: imports.open,
    audit: audit.open,
    schemaSteps: async () => [recordsPath, credentialsPath].flatMap(appliedAt),
    sandbox: sandbox.open,
    claimIssuer: async (issuer) => {
      claim = await claimIssuer(claimPath(paths), issuer)
      return claim.other
    },
    servesOperator: true,
    watch,
    confirmIntact: files.confirm,
    close: async () => {
      watch?.stop()
      claim?.release()
      await imports.close()
      await audit.close()
      await sandbox.close()
      await quotes.close()
      await credentials.close()
      await records.close()
    },
  }
  return withKeyring(sources, stores, keyFileOf(sources, paths))
}

const keyFileOf = ({ keyFile }: StoreDeps, paths: StorePaths): string =>
  keyFile ?? keyFileBeside(paths)

/** Adds the keys. Only the embedded store makes a key file, where no key is configured. */
function withKeyring(sources: StoreDeps, stores: OpenedStores, keyFile?: string): Stores {
  const vault = { ...keySources(sources), keyFile }
  return {
    ...stores,
    keyring: (store) => openVault({ store, ...vault }),
    auditLog: async (keyring) => {
      const log = stores.audit(() => keyring.current('audit'))
      if (keyring.made.includes('audit')) await log.write(await schemaEntry(stores))
      return log
    },
  }
}

const keySources = ({
  clock,
  config: { masterKey, keyCommand, previousMasterKey },
}: StoreDeps) => ({
  masterKey,
  keyCommand,
  previousMasterKey,
  clock,
  random: systemRandom,
})

/** The first steps of a schema come before its first key, so they have no entries of their own. */
async function schemaEntry({ schemaSteps }: OpenedStores): Promise<AuditEntry> {
  const steps = (await schemaSteps()).map(({ name, at }) => ({ name, at: printInstant(at) }))
  return { action: 'find_schema', actor: { type: 'program' }, outcome: 'done', steps }
}

import {
  type Check,
  type Clock,
  type Config,
  ConfigError,
  type Keyring,
  openVault,
  type PurposeKeyStore,
  readPostgresUrl,
} from '@bursar/base'
import type { Roles } from '@bursar/postgres'
import {
  type AuditDeps,
  type AuditLog,
  type AuditReader,
  keySources,
  type OpenedStores,
  openedKeys,
  type SealedDeps,
  type SharedValues,
  type StoreDeps,
  type StoredRows,
  type StoreFiles,
  type Stores,
  StoreUnavailable,
} from '@bursar/records'
import {
  appliedSteps,
  compactFile,
  type EmbeddedMode,
  embeddedChecks,
  isServed,
  isVacant,
  isWhole,
  keyFileBeside,
  openEmbeddedStores,
  openSqliteAuditReader,
  requireFiles,
  type StorePaths,
  sharedIn,
  sqliteFiles,
  storePaths,
} from '@bursar/sqlite'

/** The audit log for the owner of the store, or its auditor. */
export type AuditArchive = {
  readonly reader: AuditReader
  /** The keys of the store. Makes none. */
  keyring(): Promise<Keyring>
  /** A chain of the owner. */
  openLog(keyring: Keyring): AuditLog
}

export type { StoreDeps, Stores }

/** The PostgreSQL half, which only its users load. No file but this one names an adapter. */
const loadPostgres = () => import('@bursar/postgres')

/**
 * Opens a server's stores: DATABASE_URL and its standbys for customers, OPERATOR_DATABASE_URL for
 * the operator. An embedded store has one server, so it throws a StoreServed for a second one. A
 * command that is `beside` a server only looks.
 */
export async function openServiceStores(
  sources: StoreDeps,
  as: 'server' | 'beside' = 'server',
): Promise<Stores> {
  const primaries = readPostgresUrl(sources.config.databaseUrl)
  if (primaries === undefined) {
    return await embeddedStores(sources, as === 'server' ? 'served' : 'opened')
  }
  const { openServicePostgres } = await loadPostgres()
  return await withKeyring(sources, (sealed) => openServicePostgres(sealed, primaries))
}

/** Opens the stores of every other command, which sees all customers. */
export async function openOperatorStores(sources: StoreDeps): Promise<Stores> {
  const { databaseUrl, operatorDatabaseUrl } = sources.config
  const url = operatorDatabaseUrl ?? databaseUrl
  if (readPostgresUrl(url) === undefined) return await embeddedStores(sources, 'opened')
  const { openOperatorPostgres } = await loadPostgres()
  return await withKeyring(sources, (sealed) => openOperatorPostgres(sealed, url))
}

/** Opens the stores of a process that imports for a server, with the role of the operator. */
export async function openWriterStores(sources: StoreDeps): Promise<Stores> {
  const { databaseUrl } = sources.config
  // A server on the embedded store ignores the operator's URL.
  return readPostgresUrl(databaseUrl) === undefined
    ? await embeddedStores(sources, 'opened')
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
      return await recorded(log, () =>
        migratePostgres(addresses, roles, { settings, log: sources.log }),
      )
    })
  }
  const paths = storePaths(sources.config.databaseUrl)
  const isLegal = creates === 'a whole store' ? isVacant(paths) : creates === 'what is missing'
  if (!isLegal) requireFiles(paths)
  if (refusesServed && isServed(paths)) {
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
  const stores = await embeddedStores(sources, 'opened')
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
  const stores = await embeddedStores(sources, 'created')
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
    const { checkPostgres, withOwnedAudit } = await loadPostgres()
    return await withOwnedAudit(addresses, ({ keys }) => {
      const sealing = {
        form: 'sealed',
        keyring: () =>
          openVault({ ...keySources(sources), store: keys, keyFile: undefined, readsOnly: true }),
      } as const
      return checkPostgres(addresses, { clock: sources.clock, sealing }, checkRecords)
    })
  }
  const stores = await embeddedStores(sources, 'opened')
  try {
    const parts = [stores.records(), stores.credentials()]
    const faults = await Promise.all(parts.map((part) => part.integrityFaults()))
    return { faults: faults.flat(), records: await checkRecords(stores.records().operator.rows) }
  } finally {
    await stores.close()
  }
}

/** Values that records of several customers have. On PostgreSQL this runs as the owner. */
export async function findSharedValues({
  config: { databaseUrl },
}: Pick<StoreDeps, 'config'>): Promise<SharedValues> {
  const addresses = readPostgresUrl(databaseUrl)
  if (addresses === undefined) return await sharedIn(storePaths(databaseUrl).records)
  return await (await loadPostgres()).sharedInPostgres(addresses)
}

/**
 * Writes the files or tables anew, so that no deleted byte is left in them. On PostgreSQL as the
 * owner. A server on the embedded store cannot write meanwhile, so it must be allowed with
 * `isOnline`. Returns the bytes before and after.
 */
export async function compactStore(
  { config: { databaseUrl } }: Pick<StoreDeps, 'config'>,
  { isOnline }: { readonly isOnline: boolean },
): Promise<{ readonly before: number; readonly after: number }> {
  const addresses = readPostgresUrl(databaseUrl)
  if (addresses !== undefined) return await (await loadPostgres()).compactPostgres(addresses)
  const paths = storePaths(databaseUrl)
  requireFiles(paths)
  if (!isOnline && isServed(paths)) {
    throw new StoreUnavailable(
      `a server uses the store at ${paths.records}, and could not write while the files are compacted; stop it, or give --online to let its writes wait. Nothing was changed.`,
    )
  }
  const [records, credentials] = [
    await compactFile(paths.records),
    await compactFile(paths.credentials),
  ]
  const sum = (of: 'before' | 'after') => records[of] + credentials[of]
  return { before: sum('before'), after: sum('after') }
}

/** Throws a ConfigError if several processes are to serve an embedded store. */
export function requireOneServer({ databaseUrl, workers }: Config): void {
  if (workers === 1 || readPostgresUrl(databaseUrl) !== undefined) return
  throw new ConfigError(
    `${workers} workers need PostgreSQL, because one process serves an embedded store. Set workers (--workers, BURSAR_WORKERS) to 1, or DATABASE_URL to a PostgreSQL database (docs/scaling.md).`,
  )
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
  const stores = await embeddedStores(sources, 'opened')
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

const embeddedStores = (sources: StoreDeps, mode: EmbeddedMode): Promise<Stores> =>
  withKeyring(
    sources,
    (sealed) => openEmbeddedStores(sealed, mode),
    keyFileOf(sources, storePaths(sources.config.databaseUrl)),
  )

const keyFileOf = ({ keyFile }: StoreDeps, paths: StorePaths): string =>
  keyFile ?? keyFileBeside(paths)

/**
 * Opens stores, and the keys at their first use. Only the embedded store makes a key file, where no
 * key is configured.
 */
async function withKeyring(
  sources: StoreDeps,
  open: (sealed: SealedDeps) => OpenedStores | Promise<OpenedStores>,
  keyFile?: string,
): Promise<Stores> {
  const keys = openedKeys(sources, keyFile)
  const stores = await open({ ...sources, sealing: keys.sealing(() => stores.credentials()) })
  return keys.addTo(stores)
}

import { type Config, ConfigError, readPostgresUrl } from '@bursar/base'
import type { StoreDeps, StoreFiles, Stores } from '@bursar/records'
import { sqliteFiles, storePaths } from '@bursar/sqlite'
import { embeddedEngine } from './engines/embedded-engine.ts'
import type { AuditArchive, StoreEngine } from './engines/store-engine.ts'

export type { AuditArchive, StoreDeps, StoreEngine, Stores }

const isEmbedded = (url: string): boolean => readPostgresUrl(url) === undefined

/** The engine of a URL. Only users of PostgreSQL load its half. */
export async function storeEngine(
  sources: StoreDeps,
  url = sources.config.databaseUrl,
): Promise<StoreEngine> {
  if (isEmbedded(url)) return embeddedEngine(sources)
  return (await import('./engines/postgres-engine.ts')).postgresEngine(sources)
}

const operatorUrl = ({ databaseUrl, operatorDatabaseUrl }: Config): string =>
  operatorDatabaseUrl ?? databaseUrl

/**
 * Opens a server's stores: DATABASE_URL and its standbys for customers, OPERATOR_DATABASE_URL for
 * the operator. An embedded store has one server, so it throws a StoreServed for a second one. A
 * command that is `beside` a server only looks.
 */
export const openServiceStores = async (
  sources: StoreDeps,
  as: 'server' | 'beside' = 'server',
): Promise<Stores> => (await storeEngine(sources)).openService(as)

/** Opens the stores of every other command, which sees all customers. */
export const openOperatorStores = async (sources: StoreDeps): Promise<Stores> =>
  (await storeEngine(sources, operatorUrl(sources.config))).openOperator()

/**
 * Opens the stores of a process that imports for a server, with the role of the operator. A server
 * on the embedded store ignores the operator's URL.
 */
export const openWriterStores = async (sources: StoreDeps): Promise<Stores> =>
  (await storeEngine(sources)).openWriter()

/** Makes an embedded store where there is none, with both its databases. */
export const createStore = async (sources: StoreDeps): Promise<void> =>
  (await storeEngine(sources)).create()

/** Throws a ConfigError if several processes are to serve an embedded store. */
export function requireOneServer({ databaseUrl, workers }: Config): void {
  if (workers === 1 || !isEmbedded(databaseUrl)) return
  throw new ConfigError(
    `${workers} workers need PostgreSQL, because one process serves an embedded store. Set workers (--workers, BURSAR_WORKERS) to 1, or DATABASE_URL to a PostgreSQL database (docs/scaling.md).`,
  )
}

/** The files of the embedded store. Undefined on PostgreSQL, which has its own tools. */
export function storeFiles(config: Config): StoreFiles | undefined {
  const url = operatorUrl(config)
  return isEmbedded(url) ? sqliteFiles(storePaths(url)) : undefined
}

/** When PostgreSQL last archived a file of its log, in microseconds since 1970, UTC. */
export const lastArchivedAt = async ({ databaseUrl }: Config): Promise<bigint | undefined> =>
  (await import('@bursar/postgres')).lastArchivedAt(readPostgresUrl(databaseUrl) ?? [])

/** The server of PostgreSQL that takes writes, as the URL names it. Undefined for files. */
export async function primaryOf(config: Config): Promise<string | undefined> {
  const addresses = readPostgresUrl(operatorUrl(config))
  return addresses && (await import('@bursar/postgres')).primaryOf(addresses)
}

import type { Config } from '../../platform/config.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { readPostgresUrl, type ServerAddress } from '../../platform/postgres-url.ts'
import { openServers, type Servers, type ServersDeps } from './cluster/servers.ts'
import { withPrimary } from './cluster/with-primary.ts'
import { operatorSessions, readingSessions } from './driver/sessions.ts'
import { requireSchema } from './schema/migrate.ts'
import { requireCustomersRole, requireOperatorRole } from './schema/roles.ts'

type SessionDeps = { readonly config: Config; readonly log: Logger }

/** The servers of one database, as each role that a process connects as. */
export type PostgresSessions = {
  readonly customers: Servers
  /** Sessions of their own, so that a flood of logins takes none from readers of records. */
  readonly credentials: Servers
  readonly operator: Servers | undefined
  /** The operator's sessions for requests over HTTP, with deadlines. */
  readonly ingest?: Servers | undefined
  close(): Promise<void>
}

/** Opens what a server needs. Throws a ConfigError if a role or the schema is not the right one. */
export async function openServiceSessions(
  sources: SessionDeps,
  primaries: readonly ServerAddress[],
): Promise<PostgresSessions> {
  const { operatorDatabaseUrl, databaseReadUrls } = sources.config
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
      : await open(openOperatorServers(sources, operatorDatabaseUrl))
  const ingest =
    operatorDatabaseUrl === undefined
      ? undefined
      : await open(openIngestServers(sources, operatorDatabaseUrl))
  const stack = opened.move()
  const close = () => stack.disposeAsync()
  return { customers, credentials, operator, ingest, close }
}

/** Opens the sessions of the operator's commands and of ingest. */
export async function openOperatorServers(sources: SessionDeps, url: string): Promise<Servers> {
  const primaries = readPostgresUrl(url) ?? []
  await withPrimary(primaries, async (connection) => {
    await requireSchema(connection)
    await requireOperatorRole(connection)
  })
  return await openFor(sources, primaries, { ...asOperator, parameters: operatorSessions })
}

const asOperator = {
  standbys: [],
  requireRole: { primary: requireOperatorRole, standby: requireOperatorRole },
}

/** The operator's role has been checked already. */
const openIngestServers = (sources: SessionDeps, url: string): Promise<Servers> =>
  openFor(sources, readPostgresUrl(url) ?? [], {
    ...asOperator,
    parameters: readingSessions(sources.config.databaseTimeoutMs),
  })

type Use = Pick<ServersDeps, 'standbys' | 'parameters' | 'requireRole'> & {
  readonly connectionsMax?: number
}

function openFor(
  { config, log }: SessionDeps,
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

import {
  type Background,
  type Config,
  type Logger,
  limitsOf,
  type Metrics,
  readPostgresUrl,
  type ServerAddress,
} from '@bursar/base'
import { refusePooler } from './cluster/find-pooler.ts'
import { openServers, type Servers, type ServersDeps } from './cluster/servers.ts'
import { withPrimary } from './cluster/with-primary.ts'
import { allOf } from './driver/all-of.ts'
import { requiredSettings } from './driver/required-settings.ts'
import { operatorSessions, readingSessions } from './driver/sessions.ts'
import { requireSchema } from './schema/migrate.ts'
import { type RoleCheck, requireCustomersRole, requireOperatorRole } from './schema/roles.ts'
import { requireSettings } from './schema/session-settings.ts'

const limits = limitsOf({
  /** Sessions for look-ups and changes of credentials, apart from those of records. */
  credentialSessionsMax: 4,
})

type SessionDeps = {
  readonly config: Config
  readonly log: Logger
  readonly background?: Background
  readonly metrics?: Metrics
}

/** The servers of one database, as each role that a process connects as. */
export type PostgresSessions = {
  readonly customers: Servers
  /** Separate sessions, so that a flood of logins takes none from readers of records. */
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
  const standbys = databaseReadUrls.flatMap((url) => readPostgresUrl(url) ?? [])
  const operators =
    operatorDatabaseUrl === undefined ? undefined : (readPostgresUrl(operatorDatabaseUrl) ?? [])
  await allOf([
    requireReady(sources, { primaries, standbys }, requireRole.primary),
    operators && requireReadyForOperator(sources, operators),
  ])
  await using opened = new AsyncDisposableStack()
  const open = async (opening: Promise<Servers>) =>
    opened.adopt(await opening, (servers) => servers.close())
  const reading = {
    standbys,
    parameters: readingSessions(sources.config.databaseTimeoutMs),
    requireRole,
  }
  const connectionsMax = limits.credentialSessionsMax
  const [customers, credentials, operator, ingest] = await allOf([
    open(openFor(sources, primaries, { ...reading, of: 'customers' })),
    open(openFor(sources, primaries, { ...reading, connectionsMax, of: 'credentials' })),
    operators && open(openForOperator(sources, operators)),
    operators && open(openIngestServers(sources, operators)),
  ])
  const stack = opened.move()
  return { customers, credentials, operator, ingest, close: () => stack.disposeAsync() }
}

/** Opens the sessions of the operator's commands and of ingest. */
export async function openOperatorServers(sources: SessionDeps, url: string): Promise<Servers> {
  const primaries = readPostgresUrl(url) ?? []
  await requireReadyForOperator(sources, primaries)
  return await openForOperator(sources, primaries)
}

const requireReadyForOperator = (sources: SessionDeps, primaries: readonly ServerAddress[]) =>
  requireReady(sources, { primaries, standbys: [] }, requireOperatorRole)

const openForOperator = (sources: SessionDeps, primaries: readonly ServerAddress[]) =>
  openFor(sources, primaries, { ...asOperator, parameters: operatorSessions, of: 'operator' })

/** Throws a ConfigError if the pooler, the schema, the role or its settings are not right. */
async function requireReady(
  { config }: SessionDeps,
  { primaries, standbys }: Pick<ServersDeps, 'primaries' | 'standbys'>,
  requireRole: RoleCheck,
): Promise<void> {
  const settings = poolerSettings(config)
  await allOf([
    config.pooler === 'none' && refusePooler([...primaries, ...standbys]),
    withPrimary(primaries, async (connection) => {
      await requireSchema(connection)
      await requireRole(connection)
      if (settings !== undefined) {
        await requireSettings(connection, { ...requiredSettings, ...settings })
      }
    }),
  ])
}

/** The settings that the roles need, because a pooler keeps none of a session. */
export const poolerSettings = ({ pooler, databaseTimeoutMs }: Config) =>
  pooler === 'none' ? undefined : readingSessions(databaseTimeoutMs)

const asOperator = {
  standbys: [],
  requireRole: { primary: requireOperatorRole, standby: requireOperatorRole },
}

const openIngestServers = (sources: SessionDeps, primaries: readonly ServerAddress[]) =>
  openFor(sources, primaries, {
    ...asOperator,
    of: 'ingest',
    parameters: readingSessions(sources.config.databaseTimeoutMs),
  })

type Use = Pick<ServersDeps, 'standbys' | 'parameters' | 'requireRole' | 'of'> & {
  readonly connectionsMax?: number
}

function openFor(
  { config, log, background, metrics }: SessionDeps,
  primaries: readonly ServerAddress[],
  use: Use,
): Promise<Servers> {
  return openServers({
    connectionsMax: config.databaseConnectionsMax,
    ...use,
    primaries,
    withinMs: config.databaseTimeoutMs,
    pooler: config.pooler,
    log,
    background,
    metrics,
  })
}

import { isIP } from 'node:net'
import {
  type Background,
  type Clock,
  type Config,
  isWildcard,
  type Keyring,
  type Logger,
  openBackground,
  openRequestMinutes,
  type Recorder,
  type RequestMinutes,
  urlHost,
  usableMemory,
} from '@bursar/base'
import {
  type Caller,
  type Interfere,
  ingestOperations,
  isFailure,
  type OperatorPrincipal,
  operations,
  type Principal,
  type Route,
} from '@bursar/contract'
import { type FeeBasis, openFees } from '@bursar/fees'
import { openWriters, recordRules } from '@bursar/intake'
import {
  type GuessLimiter,
  type OAuth,
  openOAuth,
  requireNoPublishedSecret,
  requireOneIssuer,
} from '@bursar/oauth'
import {
  type CredentialStore,
  type FeeQuoteStore,
  type ImportRegistry,
  openSpoolsOf,
  type SandboxState,
  type Store,
  startAuditReport,
} from '@bursar/records'
import { apiPage, type PageClient } from './documents/api-page/api-page.ts'
import { type ConsoleClient, consolePage } from './documents/console/console-page.ts'
import {
  healthRoutes,
  metricsRoute,
  openHealthReport,
  operatorHealthRoutes,
  probes,
  type ReadinessCheck,
} from './documents/health.ts'
import { ingestApi } from './documents/openapi.ts'
import { openApiRoute, openApiRoutes } from './documents/openapi-routes.ts'
import { problemPages } from './documents/problem-pages.ts'
import { type Life, processChecks, readinessChecks } from './documents/readiness.ts'
import { staticDocument } from './documents/static-document.ts'
import { authenticate, requireOperator, requireScope } from './pipeline/authenticate.ts'
import { cursorKeysOf } from './pipeline/cursor.ts'
import type { Api } from './pipeline/handle.ts'
import { openRateLimit } from './pipeline/rate-limit.ts'
import { routesOf } from './pipeline/routes-of.ts'
import { whileIntact } from './pipeline/while-intact.ts'
import { openAnswerAudit } from './server/audit-answers.ts'
import { buildServer, type Server } from './server/build-server.ts'
import {
  openUnsentAnswers,
  type UnsentAnswers,
  unsentBoundsWithin,
} from './server/connections/unsent-answers.ts'
import type { Served } from './server/request-log.ts'
import { startServiceGauges } from './service-gauges.ts'
import { startStoreJobs } from './service-jobs.ts'
import { type MergeMetrics, openServiceMetrics } from './service-metrics.ts'
import { openServiceStores } from './stores.ts'
import { customerReads, customerWorks } from './works/customer-works.ts'
import { openEventWaits } from './works/events/event-waits.ts'
import { operatorReads, operatorWorks } from './works/operator-works.ts'

/** A running service: the composition root that `startService` opens. */
export type Service = {
  readonly url: string
  /** The URL of the operator's port, if there is one. */
  readonly operatorUrl: string | undefined
  readonly extension: ServiceExtension | undefined
  /** Reads the fee schedule again, the one input that may change while the service runs. */
  reload(): void
  /**
   * Answers the requests in flight, then closes the stores. With `drain` it first takes leave of
   * the clients, so that none loses a request.
   */
  close(drain?: { readonly lameDuckMs: number }): Promise<void>
}

export type ServiceDeps = {
  readonly config: Config
  readonly log: Logger
  readonly clock: Clock
  /** Whether tests move `clock`, as those of a sandbox do. */
  readonly clockMoves?: boolean
  /** Runs the jobs of the process that is about to serve. */
  readonly background?: Background
  /** Called once the stores are open; the sandbox adds its routes here. It has public secrets. */
  readonly extend?: (parts: ServiceParts) => Promise<ServiceExtension>
  readonly guessLimiter?: GuessLimiter
  readonly unsent?: UnsentAnswers
  /** Reads the metrics of every worker, where there are several. */
  readonly mergeMetrics?: MergeMetrics | undefined
  /** Where the spans of customers' and ingest's requests go. Closed by the caller. */
  readonly tracing?: Recorder | undefined
}

export type ServiceParts = {
  readonly store: Store
  readonly credentials: CredentialStore
  readonly quotes: FeeQuoteStore
  /** For a process that serves the operator. */
  readonly imports: () => ImportRegistry
  readonly keyring: Keyring
  readonly config: Config
  readonly clock: Clock
  readonly oauth: Pick<OAuth, 'refresh' | 'reload'>
  /** Where the service listens, once it does. */
  readonly url: () => string
  /** Absent on PostgreSQL. */
  readonly sandbox: (() => SandboxState) | undefined
}

export type ServiceExtension = {
  readonly routes: readonly Route[]
  readonly interfere?: Interfere
  /** Learns of every request that was served. */
  readonly served?: (served: Served) => void
  /** Whether `served` prints requests, so that the log need not name ignored parameters. */
  readonly printsRequests?: boolean
  readonly close?: () => void
  readonly pageClient: PageClient
  /** Whose records the console shows after one click. */
  readonly consoleClients: readonly ConsoleClient[]
  /** How many records of each kind there are. */
  readonly records: Readonly<Record<string, number>>
}

export async function startService(sources: ServiceDeps): Promise<Service> {
  const { config, log, clock } = sources
  const { background = openBackground() } = sources
  // Where a part cannot be opened, those before it are closed again in reverse order, as at a
  // shutdown.
  await using opened = new AsyncDisposableStack()
  let routes: readonly Route[] = []
  const measured = await openServiceMetrics(config, {
    routes: () => routes,
    merge: sources.mergeMetrics,
  })
  const { metrics } = measured
  const stores = await openServiceStores({ config, clock, log, background, metrics })
  opened.defer(stores.close)
  const fees = openFees({ config, environment: process.env, clock, log, background })
  opened.defer(fees.close)
  const [store, credentials, quotes] = [stores.records(), stores.credentials(), stores.quotes()]
  const { servesOperator } = stores
  const jobs = { store, quotes, servesOperator, log, background }
  const { announceSoon } = startStoreJobs(jobs, opened)
  const keyring = await stores.keyring(credentials)
  const audit = await stores.auditLog(keyring)
  const { auditHeadsFile: headsFile, auditCustomerReads: listsReads } = config
  const counts = startAuditReport({ audit, log, clock, background, headsFile })
  opened.defer(counts.stop)
  if (sources.extend === undefined) await requireNoPublishedSecret(credentials, config, clock)
  // A document that is read before the service listens names the right URL, unless the port is 0.
  let url = config.publicUrl ?? urlOf(config.host, String(config.port))
  const oauth = await openOAuth({
    store: credentials,
    keyring,
    config,
    log,
    issuer: () => url,
    clock,
    metrics,
    clockMoves: sources.clockMoves ?? false,
    explains: sources.extend !== undefined,
    background,
    rateLimit: openRateLimit(config.oauthRequestsPerSecondMax),
    ...(sources.guessLimiter && { limiter: sources.guessLimiter }),
  })
  opened.defer(oauth.close)
  const parts = {
    store,
    credentials,
    quotes,
    imports: stores.imports,
    keyring,
    config,
    clock,
    oauth,
    watch: stores.watch,
    sandbox: stores.sandbox,
    url: () => url,
  }
  const extension = await sources.extend?.(parts)
  const rateLimit = openRateLimit(config.requestsPerSecondMax)
  const unsent =
    sources.unsent ?? openUnsentAnswers(unsentBoundsWithin(usableMemory() / config.workers))
  const { reserve: reserveAnswer } = unsent
  const cursorKeys = cursorKeysOf(keyring)
  const customers: Api<Principal> = {
    authenticate: (request) => authenticate(request, oauth.checkToken),
    rateLimit,
    interfere: extension?.interfere,
    requireScope,
    stillMay: oauth.stillMay,
    cursorKeys,
  }
  const life: Life = { isEnding: false }
  const checked = { ...parts, credentials: oauth, feeBasis: fees.current }
  const readiness = [...readinessChecks(checked), ...processChecks(life, log)]
  const operator: Api<Caller, OperatorPrincipal> = {
    authenticate: (request) => authenticate(request, oauth.identify),
    rateLimit,
    requireScope: requireOperator,
    stillMay: oauth.stillMay,
    cursorKeys,
  }
  const minutes = openRequestMinutes(clock)
  const health = openHealthReport(readiness, background, minutes)
  const spools = openSpoolsOf(config)
  const writers = openWriters({ config, log, clock, spools, keys: store.operator.keys })
  opened.defer(writers.close)
  const waits = openEventWaits()
  const operatorReadings = () =>
    operatorWorks({
      store,
      config,
      waits,
      quotes,
      imports: stores.imports(),
      reads: stores.reads(),
      spools,
      writers,
      clock,
      log,
      rules: recordRules(config),
      health,
      announceSoon,
      reserveAnswer,
    })
  if (measured.read !== undefined) {
    const stored = { quotes: quotes.operator, imports: stores.imports }
    const gauges = { ...checked, metrics, log, background, oauth, audit }
    opened.defer(startServiceGauges({ ...gauges, stored: servesOperator ? stored : undefined }))
  }
  const operatorUrl = await listenForOperator(
    [...operatorHealthRoutes(health), ...(measured.read ? [metricsRoute(measured.read)] : [])],
    { ...sources, background },
    opened,
  )
  routes = [
    ...[
      ...routesOf(
        operations,
        customerWorks({ ...checked, cursorKeys, reserveAnswer, metrics, waits }),
        customers,
      ),
      ...(servesOperator ? routesOf(ingestOperations, operatorReadings(), operator) : []),
      ...oauth.routes(extension?.interfere),
    ].map(whileIntact(stores.watch)),
    ...oauth.documents.map(staticDocument),
    ...documentRoutes(config, readiness, extension, fees.current, () => url),
    ...(servesOperator ? [openApiRoute(ingestApi, () => url)] : []),
    ...(extension?.routes ?? []),
  ]
  const server = await buildServer({
    log,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    connectionsPerAddressMax: config.connectionsPerAddressMax,
    logsIgnoredParameters: extension !== undefined && extension.printsRequests !== true,
    served: countingMinutes(minutes, measured.observing(extension?.served)),
    audit: openAnswerAudit({
      audit,
      counts,
      reads: new Set([...customerReads, ...operatorReads]),
      listsReads,
    }),
    unsent,
    tracing: sources.tracing,
    background,
    of: 'customers',
    routes,
  })
  opened.defer(server.close)
  opened.defer(() => extension?.close?.())
  const listening = await server.listen(config.host, config.port)
  url = config.publicUrl ?? urlOf(config.host, new URL(listening).port)
  requireOneIssuer({ config, log }, url, await stores.claimIssuer(url))
  fees.warnWithoutFee()
  const close = closerOf(life, server, store.customers.changes.stop, opened.move())
  return { url, operatorUrl, extension, reload: fees.reload, close }
}

/** Counts a request of a caller before its other observers learn of it. */
const countingMinutes =
  ({ note }: RequestMinutes, served: ((request: Served) => void) | undefined) =>
  (request: Served): void => {
    if (!probes.has(request.trace.operation ?? '')) note(isFailure(request.status))
    served?.(request)
  }

/** What everyone may read. A console without a sandbox is there if it is configured. */
const documentRoutes = (
  config: Config,
  readiness: readonly ReadinessCheck[],
  extension: ServiceExtension | undefined,
  feeBasis: () => FeeBasis,
  url: () => string,
): Route[] => [
  ...healthRoutes(readiness),
  ...apiPage(extension?.pageClient),
  ...problemPages(),
  ...openApiRoutes(url),
  ...(extension !== undefined || config.console
    ? consolePage(config, extension?.consoleClients ?? [], feeBasis)
    : []),
]

const closerOf =
  (
    life: Life,
    server: Server,
    endWaits: () => void,
    running: AsyncDisposableStack,
  ): Service['close'] =>
  async (drain) => {
    life.isEnding = true
    endWaits()
    if (drain !== undefined) await server.drain(drain.lameDuckMs)
    await running.disposeAsync()
  }

/** Listens first and stops last, so that the operator can watch the service start and drain. */
async function listenForOperator(
  routes: readonly Route[],
  { config, log, background }: ServiceDeps & { readonly background: Background },
  opened: AsyncDisposableStack,
): Promise<string | undefined> {
  const { operatorHost, operatorPort } = config
  if (operatorPort === undefined) return undefined
  const none = { corsOrigins: [], trustedProxies: [] }
  const server = await buildServer({ log, routes, background, of: 'operator', ...none })
  opened.defer(server.close)
  const url = await server.listen(operatorHost, operatorPort)
  log.info({ url }, 'the operator’s port is open')
  return url
}

/**
 * The host as configured: tokens and clients know the issuer by this name. Nobody can connect to a
 * wildcard address, which only the sandbox may listen on without a public URL.
 */
function urlOf(host: string, port: string): string {
  const own = isIP(host) === 6 ? '::1' : '127.0.0.1'
  return `http://${urlHost(isWildcard(host) ? own : host)}${port === '' ? '' : `:${port}`}`
}

import {
  type Background,
  openRequestMinutes,
  type RequestMinutes,
  usableMemory,
} from '@bursar/base'
import {
  type Caller,
  ingestOperations,
  isFailure,
  type OperatorPrincipal,
  operations,
  type Principal,
  type RecordRules,
  type Route,
} from '@bursar/contract'
import { type Fees, openFees } from '@bursar/fees'
import { openWriters, recordRules, type Writers } from '@bursar/intake'
import { openOAuth, requireNoPublishedSecret } from '@bursar/oauth'
import {
  type AuditLog,
  type AuditReport,
  openSpoolsOf,
  type Spools,
  startAuditReport,
} from '@bursar/records'
import { apiPage } from './documents/api-page/api-page.ts'
import { consolePage } from './documents/console/console-page.ts'
import {
  healthRoutes,
  metricsRoute,
  openHealthReport,
  operatorHealthRoutes,
  probes,
} from './documents/health.ts'
import { ingestApi } from './documents/openapi.ts'
import { openApiRoute, openApiRoutes } from './documents/openapi-routes.ts'
import { problemPages } from './documents/problem-pages.ts'
import { importsCheck, type Life, processChecks, readinessChecks } from './documents/readiness.ts'
import { staticDocument } from './documents/static-document.ts'
import { authenticate, requireOperator, requireScope } from './pipeline/authenticate.ts'
import { cursorKeysOf } from './pipeline/cursor.ts'
import type { Api } from './pipeline/handle.ts'
import { openRateLimit } from './pipeline/rate-limit.ts'
import { routesOf } from './pipeline/routes-of.ts'
import { whileIntact } from './pipeline/while-intact.ts'
import { openAnswerAudit } from './server/audit-answers.ts'
import { buildServer } from './server/build-server.ts'
import { openUnsentAnswers, unsentBoundsWithin } from './server/connections/unsent-answers.ts'
import type { Served } from './server/request-log.ts'
import type { ServiceDeps } from './service-deps.ts'
import { startServiceGauges } from './service-gauges.ts'
import type { startStoreJobs } from './service-jobs.ts'
import { openServiceMetrics } from './service-metrics.ts'
import { openServiceStores } from './stores.ts'
import { customerReads, customerWorks } from './works/customer-works.ts'
import { openEventWaits } from './works/events/event-waits.ts'
import { operatorReads, operatorWorks } from './works/operator-works.ts'

/** What parts need before it is known. */
export type Late = {
  /** Where the service listens, once it does. */
  url: string
  routes: readonly Route[]
}

/** What is there before any part. */
type Given = ServiceDeps & {
  readonly background: Background
  readonly late: Late
  readonly life: Life
}

/** What the parts take from those before them, by its name. */
type Opened = Given &
  ReturnOf<typeof openMeasures> &
  ReturnOf<typeof openStores> &
  ReturnOf<typeof openFeeSources> &
  ReturnOf<typeof startStoreJobs> &
  ReturnOf<typeof openAudit> &
  ReturnOf<typeof openTokens> &
  ReturnOf<typeof extend> &
  ReturnOf<typeof openBounds> &
  ReturnOf<typeof openHealth> &
  ReturnOf<typeof openIntake>

type ReturnOf<Part extends (...args: never) => unknown> = Awaited<ReturnType<Part>>

export const openMeasures = async ({ config, late, mergeMetrics }: Given) => {
  const measured = await openServiceMetrics(config, {
    routes: () => late.routes,
    merge: mergeMetrics,
  })
  return { measured, metrics: measured.metrics }
}

type Measured = ReturnOf<typeof openMeasures>

export async function openStores(parts: Given & Measured, closing: AsyncDisposableStack) {
  const stores = await openServiceStores(parts)
  closing.defer(stores.close)
  const [store, credentials, quotes] = [stores.records(), stores.credentials(), stores.quotes()]
  const { watch, sandbox, servesOperator } = stores
  const keyring = await stores.keyring(credentials)
  return { stores, store, credentials, quotes, keyring, watch, sandbox, servesOperator }
}

type WithStores = Given & Measured & ReturnOf<typeof openStores>

export function openFeeSources(
  parts: Given,
  closing: AsyncDisposableStack,
): { readonly fees: Fees; readonly feeBasis: Fees['current'] } {
  const fees = openFees({ ...parts, environment: process.env })
  closing.defer(fees.close)
  return { fees, feeBasis: fees.current }
}

export async function openAudit(
  { stores, keyring, config, ...parts }: WithStores,
  closing: AsyncDisposableStack,
): Promise<{ readonly audit: AuditLog; readonly counts: AuditReport }> {
  const audit = await stores.auditLog(keyring)
  const counts = startAuditReport({
    ...parts,
    audit,
    headsFile: config.auditHeadsFile,
    // Nobody collects the log of a sandbox, which extends the service.
    alwaysShowsHeads: parts.extend === undefined,
  })
  closing.defer(counts.stop)
  return { audit, counts }
}

export async function openTokens(parts: WithStores, closing: AsyncDisposableStack) {
  const { config, clock, credentials, extend: extending, guessLimiter, late } = parts
  // A sandbox, which extends the service, has public secrets.
  if (extending === undefined) await requireNoPublishedSecret(credentials, config, clock)
  const oauth = await openOAuth({
    ...parts,
    store: credentials,
    issuer: () => late.url,
    explains: extending !== undefined,
    onKeysEnded: parts.store.operator.forgetKeys,
    rateLimit: openRateLimit(config.oauthRequestsPerSecondMax),
    ...(guessLimiter && { limiter: guessLimiter }),
  })
  closing.defer(oauth.close)
  return { oauth }
}

export async function extend(parts: WithStores & ReturnOf<typeof openTokens>) {
  const extension = await parts.extend?.({ ...parts, url: () => parts.late.url })
  return { extension }
}

/** What bounds the requests of everybody, and seals their cursors. */
export const openBounds = ({ config, keyring, unsent }: WithStores) => ({
  rateLimit: openRateLimit(config.requestsPerSecondMax),
  cursorKeys: cursorKeysOf(keyring),
  unsent: unsent ?? openUnsentAnswers(unsentBoundsWithin(usableMemory() / config.workers)),
  waits: openEventWaits(),
})

export function openHealth(
  parts: WithStores & ReturnOf<typeof openTokens> & ReturnOf<typeof openFeeSources>,
) {
  const { oauth, life, log, clock, background, servesOperator, store } = parts
  const checked = { ...parts, credentials: oauth }
  const readiness = [...readinessChecks(checked), ...processChecks(life, log)]
  const minutes = openRequestMinutes(clock)
  const reported = servesOperator ? [...readiness, importsCheck(store.imports)] : readiness
  return { readiness, minutes, health: openHealthReport(reported, background, minutes) }
}

export function openIntake(
  parts: WithStores,
  closing: AsyncDisposableStack,
): { readonly spools: Spools; readonly writers: Writers; readonly rules: RecordRules } {
  const { config, store } = parts
  const spools = openSpoolsOf(config)
  const writers = openWriters({ ...parts, spools, keys: store.operator.keys })
  closing.defer(writers.close)
  return { spools, writers, rules: recordRules(config) }
}

export function startGauges(parts: Opened, closing: AsyncDisposableStack) {
  const { measured, servesOperator, quotes, store } = parts
  const stored = servesOperator ? { quotes: quotes.operator, imports: store.imports } : undefined
  if (measured.read !== undefined) closing.defer(startServiceGauges({ ...parts, stored }))
  return {}
}

/** Listens first and stops last, so that the operator can watch the service start and drain. */
export async function listenForOperator(
  { config, log, background, health, measured }: Opened,
  closing: AsyncDisposableStack,
): Promise<{ readonly operatorUrl: string | undefined }> {
  const { operatorHost, operatorPort, idleConnectionSeconds } = config
  if (operatorPort === undefined) return { operatorUrl: undefined }
  const routes = [
    ...operatorHealthRoutes(health),
    ...(measured.read ? [metricsRoute(measured.read)] : []),
  ]
  const none = { corsOrigins: [], trustedProxies: [], idleConnectionSeconds }
  const server = await buildServer({ log, routes, background, of: 'operator', ...none })
  closing.defer(server.close)
  const operatorUrl = await server.listen(operatorHost, operatorPort)
  log.debug({ url: operatorUrl }, 'the operator’s port is open')
  return { operatorUrl }
}

export function composeRoutes(parts: Opened) {
  const { oauth, extension, rateLimit, cursorKeys, stores, servesOperator, late } = parts
  const shared = { rateLimit, cursorKeys, stillMay: oauth.stillMay }
  const customers: Api<Principal> = {
    ...shared,
    authenticate: (request) => authenticate(request, oauth.checkToken),
    interfere: extension?.interfere,
    requireScope,
  }
  const operator: Api<Caller, OperatorPrincipal> = {
    ...shared,
    authenticate: (request) => authenticate(request, oauth.identify),
    requireScope: requireOperator,
  }
  const working = { ...parts, reserveAnswer: parts.unsent.reserve }
  const operatorRoutes = () => {
    const works = operatorWorks({ ...working, imports: parts.store.imports, reads: stores.reads() })
    return routesOf(ingestOperations, works, operator)
  }
  const url = () => late.url
  late.routes = [
    ...[
      ...routesOf(operations, customerWorks(working), customers),
      ...(servesOperator ? operatorRoutes() : []),
      ...oauth.routes(extension?.interfere),
    ].map(whileIntact(stores.watch)),
    ...oauth.documents.map(staticDocument),
    ...documentRoutes(parts, url),
    ...(servesOperator ? [openApiRoute(ingestApi, url)] : []),
    ...(extension?.routes ?? []),
  ]
  return { routes: late.routes }
}

export async function openServer(
  parts: Opened & ReturnOf<typeof composeRoutes>,
  closing: AsyncDisposableStack,
) {
  const { config, audit, counts, extension, minutes, measured, routes } = parts
  const server = await buildServer({
    log: parts.log,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    connectionsPerAddressMax: config.connectionsPerAddressMax,
    idleConnectionSeconds: config.idleConnectionSeconds,
    logsIgnoredParameters: extension !== undefined && extension.printsRequests !== true,
    served: countingMinutes(minutes, measured.observing(extension?.served)),
    audit: openAnswerAudit({
      audit,
      counts,
      reads: new Set([...customerReads, ...operatorReads]),
      listsReads: config.auditCustomerReads,
    }),
    unsent: parts.unsent,
    tracing: parts.tracing,
    background: parts.background,
    of: 'customers',
    routes,
  })
  closing.defer(server.close)
  closing.defer(() => extension?.close?.())
  return { server }
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
  { config, readiness, extension, feeBasis }: Opened,
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

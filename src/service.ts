import { jsonAnswer, type Route } from './contract/request.ts'
import type { RecordRules } from './contract/resource.ts'
import { addressPolicy } from './fees/addresses/address-policy.ts'
import { openFees } from './fees/sources/open-fees.ts'
import { apiPage, homePage, type PageClient } from './http/documents/api-page.ts'
import { healthRoutes } from './http/documents/health.ts'
import { ingestApi, methodOf, openApiDocument } from './http/documents/openapi.ts'
import { problemPages } from './http/documents/problem-pages.ts'
import { readinessChecks } from './http/documents/readiness.ts'
import { cursorKeysOf } from './http/pipeline/cursor.ts'
import type { WalkDependencies } from './http/pipeline/handle.ts'
import { handle } from './http/pipeline/handle.ts'
import { type ConsumeDependencies, handleConsume } from './http/pipeline/handle-consume.ts'
import { openRequestLimit } from './http/pipeline/rate-limit.ts'
import { buildServer } from './http/server/server.ts'
import { type OAuth, openOAuth } from './oauth/open.ts'
import { operations } from './operations/index.ts'
import { ingestOperations } from './operations/ingest/index.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import type { Logger } from './platform/log.ts'
import { version } from './platform/version.ts'
import type { CredentialStore } from './store/credentials.ts'
import type { FeeQuoteStore } from './store/fee-quotes.ts'
import type { Store } from './store/records.ts'
import { openServiceStores } from './stores.ts'
import type { Keyring } from './vault/keyring.ts'
import { startQuoteSweep } from './withdrawal-fees/sweep-quotes.ts'

/**
 * The composition root: configuration → stores → server.
 */
export type Service = {
  readonly url: string
  readonly extension: ServiceExtension | undefined
  /** Reads again what may change while the service runs: the fee schedule. */
  reload(): void
  /** Answers what is in flight, refuses what is new, then closes the stores. */
  close(): Promise<void>
}

export type ServiceSources = {
  readonly config: Config
  readonly log: Logger
  readonly clock: Clock
  /** What the sandbox adds once the stores are open. */
  readonly extend?: (parts: ServiceParts) => Promise<ServiceExtension>
}

export type ServiceParts = {
  readonly store: Store
  readonly credentials: CredentialStore
  readonly quotes: FeeQuoteStore
  readonly keyring: Keyring
  readonly config: Config
  readonly clock: Clock
  readonly oauth: Pick<OAuth, 'refresh'>
}

export type ServiceExtension = {
  readonly routes: readonly Route[]
  readonly pageClient: PageClient
  /** How many records of each kind there are. */
  readonly records: Readonly<Record<string, number>>
}

export async function startService(sources: ServiceSources): Promise<Service> {
  const { config, log, clock } = sources
  // Where a later part cannot be opened, those before it are closed again, the last first; as at a shutdown.
  await using opened = new AsyncDisposableStack()
  const stores = await openServiceStores({ config, clock, log })
  opened.defer(stores.close)
  const fees = openFees({ config, environment: process.env, clock, log })
  opened.defer(fees.close)
  const [store, credentials, quotes] = [stores.records(), stores.credentials(), stores.quotes()]
  if (stores.servesOperator) opened.defer(startQuoteSweep({ quotes, clock, log }))
  const keyring = await stores.keyring(credentials)
  let url = config.publicUrl ?? ''
  const oauth = await openOAuth({
    store: credentials,
    keyring,
    config,
    issuer: () => url,
    clock,
    log,
  })
  opened.defer(oauth.close)
  const parts = { store, credentials, quotes, keyring, config, clock, oauth }
  const extension = await sources.extend?.(parts)
  const { requestsPerSecondMax } = config
  const server = await buildServer({
    log,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    plugins: [apiPage(extension?.pageClient)],
    routes: [
      ...operationRoutes({
        verify: oauth.verify,
        store,
        cursorKeys: cursorKeysOf(keyring),
        requestLimit:
          requestsPerSecondMax === 0 ? undefined : openRequestLimit(requestsPerSecondMax),
        fees: {
          basis: fees.current,
          quotes,
          clock,
          // A quote asks whether an address may be paid to; what kind of Solana account it is changes no fee.
          policy: { ...addressPolicy(config), quick: true },
          openMax: config.feeQuotesOpenMax,
        },
      }),
      ...(stores.servesOperator ? ingestRoutes({ identify: oauth.identify, quotes, clock }) : []),
      ...oauth.routes,
      ...healthRoutes(readinessChecks({ store, oauth, feeBasis: fees.current, clock })),
      homePage,
      ...problemPages,
      ...openApiRoutes(() => url),
      ...(extension?.routes ?? []),
    ],
  })
  opened.defer(server.close)
  const listening = await server.listen(config.host, config.port)
  url = config.publicUrl ?? urlOf(config.host, new URL(listening).port)
  const running = opened.move()
  return { url, extension, reload: fees.reload, close: () => running.disposeAsync() }
}

/** The host as it was configured, which is the name that tokens and clients know the issuer by. */
const urlOf = (host: string, port: string): string =>
  `http://${host.includes(':') ? `[${host}]` : host}${port === '' ? '' : `:${port}`}`

export const recordRules = (config: Config): RecordRules => ({
  statementTypes: new Set(config.statementTypes),
  statementProducts: new Set(config.statementProducts),
  testnets: config.addressTestnets,
})

function operationRoutes(dependencies: WalkDependencies): Route[] {
  return operations.map((operation) => ({
    method: methodOf(operation),
    path: operation.path,
    operation: operation.id,
    answer: (request) => handle(operation, request, dependencies),
  }))
}

function ingestRoutes(dependencies: ConsumeDependencies): Route[] {
  return ingestOperations.map((operation) => ({
    method: methodOf(operation),
    path: operation.path,
    operation: operation.id,
    answer: (request) => handleConsume(operation, request, dependencies),
  }))
}

function openApiRoutes(publicUrl: () => string): Route[] {
  const route = (path: string, document: () => object): Route => ({
    method: 'GET',
    path,
    operation: 'openapi',
    answer: () => jsonAnswer(document(), { 'cache-control': 'public, max-age=60' }),
  })
  return [
    route('/openapi.json', () => openApiDocument(operations, version, publicUrl())),
    route('/ingest/openapi.json', () =>
      openApiDocument(ingestOperations, version, publicUrl(), ingestApi),
    ),
  ]
}

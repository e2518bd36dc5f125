import type { Answer, Request, Route } from './contract/request.ts'
import { addressPolicy } from './fees/addresses/address-policy.ts'
import { openFees } from './fees/sources/open-fees.ts'
import { apiPage, homePage, type PageClient } from './http/documents/api-page.ts'
import { healthRoutes } from './http/documents/health.ts'
import { openApiRoutes } from './http/documents/openapi-routes.ts'
import { problemPages } from './http/documents/problem-pages.ts'
import { readinessChecks } from './http/documents/readiness.ts'
import { cursorKeysOf } from './http/pipeline/cursor.ts'
import { handle, handleIngest } from './http/pipeline/handle.ts'
import { openRateLimit } from './http/pipeline/rate-limit.ts'
import { buildServer } from './http/server/server.ts'
import { type OAuth, openOAuth } from './oauth/open.ts'
import { createCryptoWithdrawalFee } from './operations/create-crypto-withdrawal-fee.ts'
import { operations } from './operations/index.ts'
import { consumeWithdrawalFee } from './operations/ingest/consume-withdrawal-fee.ts'
import { ingestOperations } from './operations/ingest/index.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import type { Logger } from './platform/log.ts'
import type { CredentialStore } from './store/credentials.ts'
import type { FeeQuoteStore } from './store/fee-quotes.ts'
import type { Store } from './store/records.ts'
import { openServiceStores } from './stores.ts'
import type { Keyring } from './vault/keyring.ts'
import { consumeQuote } from './withdrawal-fees/consume-quote.ts'
import { quoteWithdrawal } from './withdrawal-fees/quote-withdrawal.ts'
import { startQuoteSweep } from './withdrawal-fees/sweep-quotes.ts'

/** A running service: the composition root that `startService` opens. */
export type Service = {
  readonly url: string
  readonly extension: ServiceExtension | undefined
  /** Reads the fee schedule again, the one input that may change while the service runs. */
  reload(): void
  /** Answers the requests in flight, refuses new ones, then closes the stores. */
  close(): Promise<void>
}

export type ServiceDeps = {
  readonly config: Config
  readonly log: Logger
  readonly clock: Clock
  /** Called once the stores are open; the sandbox adds its routes here. */
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

export async function startService(sources: ServiceDeps): Promise<Service> {
  const { config, log, clock } = sources
  // Where a part cannot be opened, those before it are closed again in reverse order, as at a
  // shutdown.
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
  const rateLimit = openRateLimit(config.requestsPerSecondMax)
  const pipeline = {
    ...{ verify: oauth.verify, rateLimit, store, cursorKeys: cursorKeysOf(keyring) },
    works: {
      [createCryptoWithdrawalFee.id]: quoteWithdrawal({
        basis: fees.current,
        quotes,
        clock,
        // A quote needs the verdict on an address, not which kind of Solana account it is.
        policy: { ...addressPolicy(config), quick: true },
        openMax: config.feeQuotesOpenMax,
      }),
    },
  }
  const ingest = {
    ...{ verify: oauth.identify, rateLimit },
    works: { [consumeWithdrawalFee.id]: consumeQuote({ quotes, clock }) },
  }
  const readiness = readinessChecks({ store, credentials: oauth, feeBasis: fees.current, clock })
  const server = await buildServer({
    log,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    logsIgnoredParameters: extension !== undefined,
    plugins: [apiPage(extension?.pageClient)],
    routes: [
      ...routesOf(operations, (operation, request) => handle(operation, request, pipeline)),
      ...routesOf(stores.servesOperator ? ingestOperations : [], (operation, request) =>
        handleIngest(operation, request, ingest),
      ),
      ...oauth.routes,
      ...healthRoutes(readiness),
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

/** The host as configured: tokens and clients know the issuer by this name. */
const urlOf = (host: string, port: string): string =>
  `http://${host.includes(':') ? `[${host}]` : host}${port === '' ? '' : `:${port}`}`

type Routed = Pick<Route, 'method' | 'path'> & { readonly id: string }

const routesOf = <O extends Routed>(
  operations: readonly O[],
  handle: (operation: O, request: Request) => Promise<Answer>,
): Route[] =>
  operations.map((operation) => ({
    method: operation.method,
    path: operation.path,
    operation: operation.id,
    answer: (request) => handle(operation, request),
  }))

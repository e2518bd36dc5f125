import type { RecordRules } from './contract/resource.ts'
import { apiPage, type PageClient } from './http/api-page.ts'
import { openNonces } from './http/cursor.ts'
import type { WalkDependencies } from './http/handle.ts'
import { handle } from './http/handle.ts'
import { healthRoutes } from './http/health.ts'
import { openApiDocument } from './http/openapi.ts'
import { problemPages } from './http/problem-pages.ts'
import { openRequestLimit } from './http/request-limit.ts'
import { jsonAnswer } from './http/respond.ts'
import { buildServer, type Route } from './http/server.ts'
import { type OAuth, openOAuth } from './oauth/open.ts'
import { operations } from './operations/index.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import type { Logger } from './platform/log.ts'
import { version } from './program.ts'
import type { CredentialStore } from './store/credentials.ts'
import { openSqliteCredentials } from './store/sqlite/credentials.ts'
import { openSqliteStore } from './store/sqlite/open.ts'
import type { Store } from './store/store.ts'
import type { Keyring } from './vault/keyring.ts'
import { openVault } from './vault/open.ts'
import { systemRandom } from './vault/random.ts'

/**
 * The composition root: configuration → stores → server. The only file that names an adapter.
 */
export type Service = {
  readonly url: string
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
  readonly keyring: Keyring
  readonly config: Config
  readonly clock: Clock
  readonly oauth: Pick<OAuth, 'refresh'>
}

export type ServiceExtension = {
  readonly routes: readonly Route[]
  readonly pageClient: PageClient
}

export async function startService(sources: ServiceSources): Promise<Service> {
  const { config, log, clock } = sources
  const store = await openRecords(config, clock)
  const credentials = await openCredentials(config)
  const keyring = await openKeyringOf(config, credentials, clock)
  let url = config.publicUrl ?? ''
  const oauth = await openOAuth({
    store: credentials,
    keyring,
    config,
    issuer: () => url,
    clock,
    log,
  })
  const extension = await sources.extend?.({ store, credentials, keyring, config, clock, oauth })
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
      }),
      ...oauthRoutesOf(oauth),
      ...healthRoutes(readinessChecks(store, oauth)),
      ...problemPages,
      openApiRoute(() => url),
      ...(extension?.routes ?? []),
    ],
  })
  const listening = await server.listen(config.host, config.port)
  url = config.publicUrl ?? listening
  return {
    url,
    close: async () => {
      await server.close()
      oauth.close()
      await credentials.close()
      await store.close()
    },
  }
}

/** The setting is of no other form. */
const sqlitePath = ({ databaseUrl }: Config): string => databaseUrl.replace(/^sqlite:/, '')

/** `data/bursar.db` → `data/bursar.credentials.db`: what stands beside the records. */
const beside = (path: string, ending: string): string => `${path.replace(/\.db$/, '')}.${ending}`

export async function openRecords(config: Config, clock: Clock): Promise<Store> {
  return openSqliteStore(sqlitePath(config), clock)
}

export async function openCredentials(config: Config): Promise<CredentialStore> {
  return openSqliteCredentials(beside(sqlitePath(config), 'credentials.db'))
}

export function openKeyringOf(
  config: Config,
  credentials: CredentialStore,
  clock: Clock,
): Promise<Keyring> {
  return openVault({
    store: credentials,
    masterKey: config.masterKey,
    previousMasterKey: config.previousMasterKey,
    keyFile: beside(sqlitePath(config), 'master-key'),
    clock,
    random: systemRandom,
  })
}

export const recordRules = (config: Config): RecordRules => ({
  statementTypes: new Set(config.statementTypes),
  statementProducts: new Set(config.statementProducts),
  testnets: config.addressTestnets,
})

function operationRoutes(dependencies: WalkDependencies): Route[] {
  return operations.map((operation) => ({
    method: 'GET',
    path: operation.path,
    operation: operation.id,
    answer: (request) => handle(operation, request, dependencies),
  }))
}

function cursorKeysOf(keyring: Keyring): WalkDependencies['cursorKeys'] {
  return {
    current: () => keyring.current('cursor'),
    byId: (id) => {
      const key = keyring.byId(id)
      return key?.purpose === 'cursor' ? key : undefined
    },
    nextNonce: openNonces(),
  }
}

function oauthRoutesOf(oauth: OAuth): Route[] {
  return oauth.routes.map(({ method, path, handle: answer }) => ({
    method,
    path,
    operation: path,
    answer: async (request) => {
      const { status, headers, body } = await answer({
        ...request,
        body: Buffer.from(request.body),
      })
      return { status, headers, body: body ?? '' }
    },
  }))
}

function readinessChecks(store: Store, oauth: OAuth) {
  return [
    {
      name: 'store',
      check: async () => {
        await store.ping()
        return undefined
      },
    },
    {
      name: 'credentials',
      check: async () => {
        const { fresh, ageMs } = oauth.freshness()
        if (!fresh) throw new Error('clients, keys and revoked tokens are too old to decide by')
        return { age_ms: ageMs }
      },
    },
  ]
}

function openApiRoute(publicUrl: () => string): Route {
  return {
    method: 'GET',
    path: '/openapi.json',
    operation: 'openapi',
    answer: () =>
      jsonAnswer(openApiDocument(operations, version, publicUrl()), {
        'cache-control': 'public, max-age=60',
      }),
  }
}

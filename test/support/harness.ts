import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Clock,
  type Config,
  type Logger,
  loadConfig,
  type MovableClock,
  systemTime,
} from '@bursar/base'
import { openSandbox } from '@bursar/sandbox'
import { type ServiceDeps, type ServiceParts, startService } from '@bursar/server'
import { createStore, openOperatorStores } from '@bursar/server/stores'
import { pino } from 'pino'
import { withPrimary } from '../../packages/postgres/src/cluster/with-primary.ts'
import { acme, borealis, type SampleCustomer } from '../../packages/sandbox/src/sample-records.ts'
import type { UnsentAnswers } from '../../packages/server/src/server/connections/unsent-answers.ts'
import { checkAnswer } from './check-answers.ts'
import {
  addressesOf,
  openTestDatabase,
  type StoreName,
  stoppedClock,
  testMasterKey,
  testStore,
} from './test-database.ts'

/** A sandbox service in this process, over a separate store. */
export type TestService = {
  readonly url: string
  /** The operator's port, if the configuration opens one. */
  readonly operatorUrl: string
  readonly parts: ServiceParts
  readonly place: StoreLocation
  /** Calls with a customer's token: Acme's by default, none for null. */
  call(path: string, options?: CallOptions): Promise<Called>
  tokenOf(customer: SampleCustomer, scope?: string): Promise<string>
  /** Sets the clock of the store to that of the service, which follows no injected clock. */
  clockChanged(): Promise<void>
  stop(): Promise<void>
}

type CallOptions = {
  readonly as?: SampleCustomer | null
  readonly token?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export type Called = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed JSON body, or undefined. */
  // biome-ignore lint/suspicious/noExplicitAny: tests compare bodies of every shape
  readonly body: any
}

export { acme, borealis }

export type ServiceOptions = {
  readonly env?: Readonly<Record<string, string>>
  readonly clock?: Clock
  /** Opens the calls under `/sandbox`; the service follows this clock. */
  readonly control?: MovableClock
  /** The adapter of this run by default. */
  readonly store?: StoreName
  /** Read by nobody by default. */
  readonly log?: Logger
  readonly unsent?: UnsentAnswers
  readonly tracing?: ServiceDeps['tracing']
}

/** No level switches the lines `access` off, so these go nowhere. */
export const unreadLog = (): Logger => pino({ level: 'silent' }, { write: () => {} })

export async function startTestService(options: ServiceOptions = {}): Promise<TestService> {
  const store = options.store ?? testStore
  // The filled store was made by the system's clock; a test with its own clock fills an empty one.
  const isFilled = options.clock === undefined
  return startServiceAt(await openPlace(store, isFilled), options)
}

/** Starts the sandbox over a store; `stop` removes the store. */
export async function startServiceAt(
  place: StoreLocation,
  options: ServiceOptions = {},
): Promise<TestService> {
  const config = configOf({ ...place.env, ...options.env })
  const { control, log = unreadLog() } = options
  const clock = options.clock ?? control?.now ?? systemTime.now
  const clockChanged = async () => {
    const { superuserUrl } = place
    if (superuserUrl === undefined) return
    await withPrimary(addressesOf(superuserUrl), (connection) =>
      connection.execute(stoppedClock(clock())),
    )
  }
  if (options.clock !== undefined) await clockChanged()
  // PostgreSQL's customer role may not create clients; the embedded store has no roles.
  const operator =
    (options.store ?? testStore) === 'postgres'
      ? await openOperatorStores({ config, clock, log })
      : undefined
  await createStore({ config, clock, log })
  let parts: ServiceParts | undefined
  const service = await startService({
    config,
    log,
    clock,
    clockMoves: control !== undefined,
    ...(options.unsent && { unsent: options.unsent }),
    tracing: options.tracing,
    extend: (opened) => {
      parts = { ...opened, ...(operator && { credentials: operator.credentials() }) }
      return openSandbox(parts, control && { clock: control })
    },
  }).catch(async (failure: unknown) => {
    // Otherwise what is open keeps the process of the test running.
    await operator?.close()
    await place.remove()
    throw failure
  })
  if (parts === undefined) throw new Error('the service opened without its parts')
  const tokens = new Map<string, Promise<string>>()
  const tokenOf = (customer: SampleCustomer, scope = '') => {
    const key = `${customer.clientId} ${scope}`
    const known = tokens.get(key) ?? fetchToken(service.url, customer, scope)
    tokens.set(key, known)
    return known
  }
  return {
    url: service.url,
    operatorUrl: service.operatorUrl ?? '',
    parts,
    place,
    tokenOf,
    clockChanged,
    call: async (path, call = {}) => {
      const as = call.as === undefined ? acme : call.as
      const token = call.token ?? (as === null ? undefined : await tokenOf(as))
      return callUrl(`${service.url}${path}`, { ...call, ...(token !== undefined && { token }) })
    },
    stop: async () => {
      await service.close()
      await operator?.close()
      await place.remove()
    },
  }
}

export type StoreLocation = {
  readonly env: Readonly<Record<string, string>>
  /** The URL for operator commands. */
  readonly commandUrl: string
  /** PostgreSQL only. */
  readonly superuserUrl?: string
  remove(): Promise<void>
}

/** The sandbox that the global setup has filled: a folder, or a database's name on PostgreSQL. */
const filledSandbox = {
  sqlite: process.env.BURSAR_TEST_SANDBOX_SQLITE,
  postgres: process.env.BURSAR_TEST_SANDBOX_POSTGRES,
}

/** A new store: a copy of the filled sandbox if the run has one, else empty. */
export async function openPlace(store = testStore, isFilled = false): Promise<StoreLocation> {
  if (store === 'postgres') {
    const database = await openTestDatabase(isFilled ? filledSandbox.postgres : undefined)
    return {
      env: {
        DATABASE_URL: database.url,
        OPERATOR_DATABASE_URL: database.operatorUrl,
        BURSAR_MASTER_KEY: testMasterKey(),
      },
      commandUrl: database.operatorUrl,
      superuserUrl: database.superuserUrl,
      remove: database.drop,
    }
  }
  const folder = temporaryFolder()
  if (isFilled && filledSandbox.sqlite !== undefined) {
    cpSync(filledSandbox.sqlite, folder, { recursive: true })
  }
  const url = `sqlite:${join(folder, 'test.db')}`
  return {
    env: { DATABASE_URL: url },
    commandUrl: url,
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

export const configOf = (env: Readonly<Record<string, string>>): Config =>
  loadConfig({
    // As in the sandbox, tokens have no rate limit. A busy machine fails no test.
    env: {
      PORT: '0',
      BURSAR_DATABASE_TIMEOUT_MS: '60000',
      BURSAR_ACCEPT_SAMPLE_FEES: 'true',
      BURSAR_OAUTH_REQUESTS_PER_SECOND_MAX: '0',
      ...env,
    },
    file: undefined,
  })

const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A new folder, which lasts as long as this process. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-test-'))
  folders.push(folder)
  return folder
}

export async function fetchToken(
  url: string,
  { clientId, clientSecret }: SampleCustomer,
  scope = '',
): Promise<string> {
  const response = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) }),
  })
  const body = (await response.json()) as { access_token?: string }
  if (body.access_token === undefined) throw new Error(`no token: ${JSON.stringify(body)}`)
  return body.access_token
}

export async function callUrl(url: string, call: CallOptions): Promise<Called> {
  const response = await fetch(url, {
    method: call.method ?? 'GET',
    redirect: 'manual',
    headers: {
      ...(call.token !== undefined && { authorization: `Bearer ${call.token}` }),
      ...call.headers,
    },
    ...(call.body !== undefined && { body: call.body as string }),
  })
  const text = await response.text()
  const { status, headers } = response
  checkAnswer(call.method ?? 'GET', url, { status, headers: Object.fromEntries(headers), text })
  return { status, headers, text, body: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

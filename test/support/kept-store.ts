import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { printInstant, systemRandom, systemTime } from '@bursar/base'
import { customerScopes } from '@bursar/contract'
import { createSampleClient } from '@bursar/oauth'
import { startService } from '@bursar/server'
import { createStore, openOperatorStores } from '@bursar/server/stores'
import type { SampleCustomer } from '../../packages/sandbox/src/sample-records.ts'
import { type Called, callUrl, configOf, fetchToken, unreadLog } from './harness.ts'
import { withdrawal } from './operation-calls.ts'
import { take } from './record-store.ts'
import { aFiatAccount, anId, aStatement } from './records.ts'

/**
 * A small store of each release is kept under `test/stores/`, of each engine, with what the release
 * answered from it. `tools/keep-store.ts` makes the next one. Its records are samples, and this key
 * wraps its keys.
 */
export const keptEnv = { BURSAR_MASTER_KEY: Buffer.alloc(32, 'kept').toString('base64') }

export const keptFolder = new URL('../stores/', import.meta.url)

/** The files of a kept store, besides `answers.json`, which has the answers by engine and path. */
export const keptFiles = {
  sqlite: ['bursar.db', 'bursar.credentials.db'],
  postgres: ['bursar.sql'],
} as const

export const readKept = (version: string, name: string): Buffer =>
  gunzipSync(readFileSync(new URL(`${version}/${name}.gz`, keptFolder)))

export function writeKept(version: string, name: string, content: Uint8Array): void {
  mkdirSync(new URL(`${version}/`, keptFolder), { recursive: true })
  writeFileSync(new URL(`${version}/${name}.gz`, keptFolder), gzipSync(content, { level: 9 }))
}

type Env = Readonly<Record<string, string>>

const customer: SampleCustomer = {
  customerId: 'acme',
  clientId: 'kept_customer',
  clientSecret: 'kept_secret_of_the_customer',
}
const operator: SampleCustomer = {
  customerId: '',
  clientId: 'kept_operator',
  clientSecret: 'kept_secret_of_the_operator',
}
const operatorScopes = [
  'ingest:read_record',
  'ingest:read_history',
  'ingest:search',
  'ingest:consume_fee',
]

/** Fills an empty store, and returns the paths that a test will read. */
export async function fillKept(env: Env): Promise<readonly string[]> {
  const sources = { config: configOf(env), clock: systemTime.now, log: unreadLog() }
  await createStore(sources)
  const stores = await openOperatorStores(sources)
  const store = stores.credentials()
  const keyring = await stores.keyring(store)
  const deps = { store, keyring, clock: systemTime.now, random: systemRandom }
  for (const [{ clientId: id, clientSecret: secret }, customerId, scopes] of [
    [customer, customer.customerId, customerScopes],
    [operator, null, operatorScopes],
  ] as const) {
    await createSampleClient(deps, { id, secret, customerId, name: id, scopes })
  }
  const ids = [1, 2, 3].map((at) => anId(at))
  const records = stores.records()
  const accounts = ids.map((id) => aFiatAccount({ id, ref_id: `ref-${id}` }))
  await take(records, 'fiat-accounts', accounts)
  await take(
    records,
    'statements',
    ids.map((id) => aStatement({ id, ref_id: `ref-${id}` })),
  )
  const between = printInstant(systemTime.now())
  await take(records, 'fiat-accounts', [
    ...accounts.slice(1).map((account) => ({ ...account, status: 'APPROVED' })),
    aFiatAccount({ id: anId(4) }),
  ])
  await stores.close()
  return await serving(env, async (call) => {
    const list = '/v2/transfer/fiat-accounts?limit=2'
    const { next_page_cursor: cursor } = (await call(list)).body
    const { id } = (await call('/v2/transfer/fees/crypto-withdrawal', withdrawal)).body
    const payout = { customer_id: customer.customerId, ...withdrawal, withdrawal: 'payout-7' }
    await call(`/ingest/v1/fees/${id}/consume`, payout)
    const past = `/ingest/v1/customers/${customer.customerId}/fiat-accounts?as_of=${between}`
    return [
      list,
      `${list}&page_cursor=${cursor}`,
      `/v2/transfer/fiat-accounts/${anId(2)}`,
      `/v2/statements?customer_id=${customer.customerId}&ref_ids=ref-${anId(2)}`,
      past,
      `${past}&view=full`,
      `/ingest/v1/fiat-accounts/${anId(2)}/history`,
      `/ingest/v1/fees/${id}`,
    ]
  })
}

type Answers = Readonly<Record<string, unknown>>

/** What a service over a kept store answers to the paths. */
export const askKept = (env: Env, paths: readonly string[]): Promise<Answers> =>
  serving(env, async (call) => {
    const answers: [path: string, body: unknown][] = []
    for (const path of paths) {
      const { next_page_cursor: cursor, ...body } = (await call(path)).body
      // A cursor has a random part.
      answers.push([path, { ...body, hasNextPage: typeof cursor === 'string' }])
    }
    return Object.fromEntries(answers)
  })

type Call = (path: string, body?: unknown) => Promise<Called>

/** Serves the store meanwhile. Posts where there is a body, with the token of the caller. */
async function serving<T>(env: Env, work: (call: Call) => Promise<T>): Promise<T> {
  const config = configOf(env)
  const service = await startService({ config, clock: systemTime.now, log: unreadLog() })
  try {
    const tokens = {
      own: await fetchToken(service.url, customer),
      operator: await fetchToken(service.url, operator),
    }
    return await work(async (path, body) => {
      const token = path.startsWith('/ingest/') ? tokens.operator : tokens.own
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const called = await callUrl(`${service.url}${path}`, { token, ...sent })
      if (called.status !== 200) throw new Error(`${path}: ${called.text}`)
      return called
    })
  } finally {
    await service.close()
  }
}

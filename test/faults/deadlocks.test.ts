import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorScopes, type RecordInput, resources } from '@bursar/contract'
import { checkStored } from '@bursar/intake'
import type { Store } from '@bursar/records'
import { pino } from 'pino'
import { type Seeded, seeded } from '../../packages/server/test/model/model.ts'
import { orderFaults, readOrder, type SeenWrite, versionOfAnswer } from '../support/change-order.ts'
import { freePort } from '../support/free-port.ts'
import {
  type Called,
  callUrl,
  openPlace,
  startServiceAt,
  type TestService,
} from '../support/harness.ts'
import { isLong } from '../support/long.ts'
import { operatorToken } from '../support/operator-token.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { take } from '../support/record-store.ts'
import {
  aDepositAddress,
  aFiatAccount,
  anId,
  aStatement,
  someDepositInstructions,
} from '../support/records.ts'
import { runBursar } from '../support/run-bursar.ts'
import { prepareServer } from '../support/test-database.ts'
import { askServer } from './support/ask-server.ts'

/**
 * Two servers, their writers of streams and imports write the same customers, ids, addresses and
 * memos, in any order, and take values from each other. PostgreSQL must find no deadlock.
 */
const SECONDS = 600
/** Of each writer, in a short run. */
const ACTS = 40
const CUSTOMERS = 12
const IDS = 80
const VALUES = 40
/** Of each server. */
const PUTTERS = 4
const STREAMERS = 2
const IMPORTERS = 2

const addresses = Array.from(
  { length: VALUES },
  (_, at) => `0x${'12345678'.repeat(4)}${String(at).padStart(8, '0')}`,
)

const networks = ['ETHEREUM', 'BASE', 'INK'] as const

const kinds = {
  'fiat-accounts': (id: number, customer_id: string) =>
    aFiatAccount({ id: anId(id), customer_id, ref_id: `r-${id}` }),
  statements: (id: number, customer_id: string) => aStatement({ id: anId(id), customer_id }),
  'deposit-addresses': (id: number, customer_id: string, value: number) =>
    aDepositAddress({
      id: anId(id),
      customer_id,
      address: addresses[value] ?? '',
      crypto_network: networks[id % 3] ?? '',
      compatible_crypto_networks: networks.slice(value % 3),
    }),
  'fiat-deposit-instructions': (id: number, customer_id: string, value: number) =>
    someDepositInstructions({
      id: anId(id),
      customer_id,
      memo_id: `MEMO${String(value).padStart(12, '0')}`,
    }),
} as const

type Kind = keyof typeof kinds
type Writer = {
  readonly url: string
  readonly store: Store
  readonly token: string
  readonly random: Seeded
  readonly seen: SeenWrite[]
  readonly statuses: Map<number, number>
}

/** Records with different ids, whose customers and values are those of others too. */
function someRecords({ random }: Writer, kind: Kind, recordsMax: number): RecordInput[] {
  const ids = new Set(Array.from({ length: 1 + random.below(recordsMax) }, () => random.below(IDS)))
  return [...ids].map((id) => {
    const customer = `customer-${random.below(CUSTOMERS)}`
    return { ...kinds[kind](id, customer, random.below(VALUES)), source_version: random.below(3) }
  })
}

/**
 * A record waits for other writers of its customer for 4 s at most. A database beside other work
 * may be late, which is no deadlock: PostgreSQL counts those.
 */
const isLate =
  /^(another writer is changing records|the database did not answer|the time for a request was over)/

async function call(writer: Writer, method: string, path: string, body?: string): Promise<Called> {
  const { url, token, statuses } = writer
  const options = { token, method, ...(body !== undefined && { body }) }
  const answer = await callUrl(`${url}/ingest/v1/${path}`, options)
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
  return answer
}

async function put(writer: Writer, kind: Kind): Promise<void> {
  const { random, seen } = writer
  const [record] = someRecords(writer, kind, 1)
  assert.ok(record !== undefined)
  const query = `?allow_older=true${random.chance(30) ? '&take_over=true' : ''}`
  const sentAt = performance.now()
  const answer = await call(writer, 'PUT', `${kind}/${record.id}${query}`, JSON.stringify(record))
  if (answer.body.outcome === undefined || answer.body.outcome === 'unchanged') return
  seen.push({
    customerId: String(record.customer_id),
    kind,
    id: String(record.id).replaceAll('-', ''),
    version: versionOfAnswer(answer),
    sentAt,
    answeredAt: performance.now(),
  })
}

const acts = {
  put: async (writer: Writer, kind: Kind) => {
    const id = anId(writer.random.below(IDS))
    if (writer.random.chance(15)) await call(writer, 'DELETE', `${kind}/${id}`)
    else await put(writer, kind)
  },
  stream: async (writer: Writer, kind: Kind) => {
    const lines = someRecords(writer, kind, 30).map((record) => JSON.stringify(record))
    const query = `?allow_older=true${writer.random.chance(50) ? '&take_over=true' : ''}`
    await call(writer, 'POST', `${kind}${query}`, lines.join('\n'))
  },
  import: async (writer: Writer, kind: Kind) => {
    const { store, random } = writer
    await take(store, kind, someRecords(writer, kind, 30), {
      allowOlder: true,
      takeOver: random.chance(50),
      ...(random.chance(30) && { reject: () => {} }),
    })
  },
}

test('writers of the same customers and values meet no deadlock on PostgreSQL', async (t) => {
  const server = await startPostgres()
  t.after(server.stop)
  let serverLog = ''
  server.process.stderr?.on('data', (text: string) => {
    serverLog += text
  })
  process.env.BURSAR_TEST_POSTGRES_PORT = String(server.port)
  await prepareServer(server)
  const place = await openPlace('postgres')
  const database = new URL(place.env.DATABASE_URL ?? '').pathname.slice(1)
  const ports = [await freePort(), await freePort()]
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const env = { BURSAR_DATABASE_TIMEOUT_MS: '5000', BURSAR_PUBLIC_URL: urls[0] ?? '' }
  const kept = { ...place, remove: async () => {} }
  const services: TestService[] = []
  const errors: string[] = []
  const noteError = (line: string) => {
    const { err, msg } = JSON.parse(line) as {
      readonly err?: { readonly message?: string }
      readonly msg?: string
    }
    // No level switches the heads of the audit log off.
    if (msg === 'audit head') return
    if (!isLate.test(err?.message ?? '')) errors.push(line)
  }
  for (const port of ports) {
    const log = pino({ level: 'error' }, { write: noteError })
    const options = { store: 'postgres', log, env: { ...env, PORT: String(port) } } as const
    services.push(await startServiceAt(kept, options))
  }
  const [first] = services
  assert.ok(first !== undefined)
  const seen: SeenWrite[] = []
  const statuses = new Map<number, number>()
  const counts = { put: PUTTERS, stream: STREAMERS, import: IMPORTERS } as const
  const writers: { readonly writer: Writer; readonly name: keyof typeof acts }[] = []
  for (const [at, { parts }] of services.entries()) {
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) {
      for (let number = 0; number < counts[name]; number += 1) {
        const token = await operatorToken(first, `${name}-${at}-${number}`, operatorScopes)
        const random = seeded(1000 * at + 100 * number + name.length)
        const { store } = parts
        const writer = { url: urls[at] ?? '', store, token, random, seen, statuses }
        writers.push({ writer, name })
      }
    }
  }
  const ends = performance.now() + SECONDS * 1000
  let acted = 0
  const writing = writers.map(async ({ writer, name }) => {
    for (let own = 0; isLong ? performance.now() < ends : own < ACTS; own += 1) {
      await acts[name](writer, writer.random.pick(Object.keys(kinds) as Kind[]))
      acted += 1
    }
  })
  try {
    await Promise.all(writing)
    const { faults } = await checkStored(resources, first.parts.store.operator.rows)
    assert.deepEqual(faults, [])
  } finally {
    for (const { stop } of services) await stop()
  }
  t.diagnostic(
    `${acted} acts, ${seen.length} stored by PUT, statuses ${JSON.stringify([...statuses])}`,
  )
  assert.deepEqual(errors, [])
  assert.deepEqual(
    [...statuses.keys()].filter((status) => status >= 500 && status !== 503),
    [],
  )
  assert.doesNotMatch(serverLog, /deadlock detected/)
  const ask = (sql: string) => askServer(server, sql, database)
  const [counted] = await ask('select sum(deadlocks) from pg_stat_database')
  assert.deepEqual(counted, ['0'])
  assert.deepEqual(orderFaults(await readOrder(ask, 'postgres'), seen), [])
  assert.deepEqual(await ask(sharedAddresses), [])
  const checked = await runBursar(server.url('owner', database), ['migrate', '--check'])
  assert.match(checked.out, /no integrity faults in \d+ records/, checked.err)
})

/** Addresses that records of several customers have on one network. */
const sharedAddresses = `
  select network.value, exclusive_key from bursar.deposit_address
    cross join json_array_elements_text(body::json -> 'compatible_crypto_networks') as network
  where not deleted group by 1, 2 having count(distinct customer) > 1`

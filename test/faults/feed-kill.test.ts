import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { parseInstant } from '@bursar/base'
import { fiatAccount } from '../../packages/contract/src/resources/fiat-account.ts'
import { readOrder } from '../support/change-order.ts'
import { freePort } from '../support/free-port.ts'
import { isLong } from '../support/long.ts'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId, aStatement } from '../support/records.ts'
import { until } from '../support/until.ts'
import { type FeedEvent, follow, type Sent, shownEvent, versionsOf } from './support/followers.ts'
import { embedded, type Place, postgres } from './support/places.ts'

/**
 * Servers are killed with SIGKILL in turn while 16 writers, two streams and imports store records
 * of four customers. A follower of each customer, and one of all of them, must see each version
 * exactly once and in order. `as_of` of an event must answer the version, whose masked bytes are
 * stored.
 */

const VERSIONS = Number(process.env.BURSAR_TEST_FEED_VERSIONS ?? (isLong ? 1_000_000 : 6000))
/** So many versions are seen between two kills. */
const SEEN_BETWEEN = isLong ? 20_000 : 1000
const LONGEST_MS = 3_600_000
const CUSTOMERS = ['ash', 'birch', 'cedar', 'dogwood']
const WRITERS = 16
const STREAM_RECORDS = isLong ? 2000 : 200
const SAMPLED = 300
const customerScopes = 'events:read_event transfer:read_fiat_account statements:read_statement'

/** Two servers of one database, or that of the embedded store. A request goes to one that runs. */
async function openServers(place: Place) {
  const env = { ...place.env, LOG_LEVEL: 'error' }
  const ports = [await freePort()]
  if (place.engine === 'postgres') ports.push(await freePort())
  const serve = async (port: number | undefined) => {
    const program = startProgram(['serve', '--json'], { env: { ...env, PORT: String(port) } })
    await program.firstLine
    return program
  }
  const create = async (words: readonly string[]) => {
    const given = ['client', 'create', '--name', 'x', '--json', ...words]
    const { code, output, errors } = await runProgram(given, { env })
    assert.equal(code, 0, errors)
    return JSON.parse(output)
  }
  // All servers have one issuer.
  // No token expires in a long run.
  const tokens = { BURSAR_TOKEN_LIFE_SECONDS: '3600' }
  Object.assign(env, { BURSAR_PUBLIC_URL: 'http://bursar.test', ...tokens })
  const programs: Program[] = []
  for (const port of ports) programs.push(await serve(port))
  let turn = 0
  let isClosed = false
  const send = async (path: string, token: string, init: RequestInit = {}): Promise<Sent> => {
    for (;;) {
      assert.ok(!isClosed, 'the servers are closed')
      turn += 1
      const url = `http://127.0.0.1:${ports[turn % ports.length]}${path}`
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(url, { ...init, headers })
        .then(async (answered) => ({ status: answered.status, text: await answered.text() }))
        .catch(() => undefined)
      if (answer !== undefined && answer.status !== 503) return answer
      await passing(20)
    }
  }
  const tokenOf = async (client: { client_id: string; client_secret: string }) => {
    const { client_id, client_secret } = client
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    for (;;) {
      turn += 1
      const url = `http://127.0.0.1:${ports[turn % ports.length]}/oauth2/token`
      const answer = await fetch(url, { method: 'POST', body: form }).catch(() => undefined)
      if (answer?.status === 200) return String(JSON.parse(await answer.text()).access_token)
      await passing(50)
    }
  }
  return {
    env,
    send,
    create,
    tokenOf,
    killInTurn: async (at: number) => {
      const which = at % ports.length
      await programs[which]?.kill('SIGKILL')
      programs[which] = await serve(ports[which])
    },
    close: async () => {
      isClosed = true
      await Promise.all(programs.map((program) => program.kill('SIGKILL')))
    },
  }
}

type Servers = Awaited<ReturnType<typeof openServers>>

const statementOf = (customer: string, at: number, round: number) =>
  aStatement({
    id: anId(100_000 + CUSTOMERS.indexOf(customer) * 10_000 + at),
    customer_id: customer,
    statement_balances: [
      { asset: 'USDG', amount_paid: '0', total_amount_owed: `${round}.${randomInt(1, 1e9)}` },
    ],
  })

/** Writes until the test ends it. A refused or lost request is sent again with another change. */
function startWriters(servers: Servers, token: string) {
  const ends = { now: false }
  const customerAt = (at: number) => CUSTOMERS[at % CUSTOMERS.length] ?? ''
  const put = async (writer: number) => {
    const id = anId(writer + 1)
    for (let round = 0; !ends.now; round += 1) {
      const metadata = { round: String(round) }
      const record = aFiatAccount({ id, customer_id: customerAt(writer), metadata })
      const body = JSON.stringify({ ...record, id: undefined })
      const path = `/ingest/v1/fiat-accounts/${id}`
      // Every tenth change removes the account, and the next one brings it back.
      const removes = round % 10 === 9
      const { status, text } = await servers.send(
        path,
        token,
        removes ? { method: 'DELETE' } : { method: 'PUT', body },
      )
      assert.ok(status < 300 || (removes && status === 404), text)
    }
  }
  const stream = async (name: number) => {
    for (let round = 0; !ends.now; round += 1) {
      const customer = customerAt(name + round)
      const lines = Array.from({ length: STREAM_RECORDS }, (_, at) =>
        JSON.stringify(statementOf(customer, name * STREAM_RECORDS + at, round)),
      )
      const init = { method: 'POST', body: lines.join('\n') }
      const { status, text } = await servers.send('/ingest/v1/statements', token, init)
      assert.ok(status === 200 || status === 409, text)
    }
  }
  const importFiles = async () => {
    for (let round = 0; !ends.now; round += 1) {
      const stdin = CUSTOMERS.map((customer) =>
        JSON.stringify(statementOf(customer, 9000 + (round % 50), round)),
      ).join('\n')
      await runProgram(['import', 'statements', '-'], { env: servers.env, stdin })
    }
  }
  const all = [
    ...Array.from({ length: WRITERS }, (_, at) => put(at)),
    stream(0),
    stream(1),
    importFiles(),
  ]
  // If the test fails before it ends them, the servers that it closes end them.
  for (const writing of all) writing.catch(() => undefined)
  return async () => {
    ends.now = true
    await Promise.all(all)
  }
}

async function assertFeeds(t: TestContext, place: Place): Promise<void> {
  const servers = await openServers(place)
  try {
    const operator = await servers.tokenOf(
      await servers.create([
        '--operator',
        '--scope',
        'ingest:write_fiat_accounts ingest:write_statements ingest:read_history',
      ]),
    )
    const tokens = new Map<string, string>()
    for (const customer of CUSTOMERS) {
      tokens.set(
        customer,
        await servers.tokenOf(
          await servers.create(['--customer', customer, '--scope', customerScopes]),
        ),
      )
    }
    const tokenOf = (customer: string) => tokens.get(customer) ?? ''
    const followers = CUSTOMERS.map((customer) => ({
      customer,
      ...follow(servers.send, '/v2/events?wait=5&', tokenOf(customer)),
    }))
    const ofAll = follow(servers.send, '/ingest/v1/changes?limit=1000&', operator)
    const endWriters = startWriters(servers, operator)
    const seenInAll = () => followers.reduce((sum, { seen }) => sum + seen.length, 0)
    const begunAt = performance.now()
    let kills = 0
    const killing = (async () => {
      while (seenInAll() < VERSIONS) {
        const before = seenInAll()
        await until(() => seenInAll() >= before + SEEN_BETWEEN, LONGEST_MS)
        await servers.killInTurn(kills)
        kills += 1
      }
    })()
    await Promise.all([until(() => seenInAll() >= VERSIONS, LONGEST_MS), killing])
    await endWriters()
    const seconds = (performance.now() - begunAt) / 1000
    await Promise.all(followers.map(({ end }) => end()))
    await ofAll.end()
    const order = await readOrder(place.ask, place.engine)
    for (const { customer, seen } of followers) {
      assert.deepEqual(seen.map(shownEvent), versionsOf(order, customer), customer)
      const inAll = ofAll.seen.filter(({ customer_id: one }) => one === customer)
      assert.deepEqual(inAll.map(shownEvent), versionsOf(order, customer), `${customer} in all`)
    }
    const checked = await assertPast(servers, place, followers, tokenOf)
    t.diagnostic(
      `${order.versions.length} versions in ${seconds.toFixed(0)} s, ${kills} kills, each seen once and in order; ` +
        `${checked} read as of their events`,
    )
  } finally {
    await servers.close()
  }
}

type Follower = { readonly customer: string; readonly seen: readonly FeedEvent[] }

/** Samples events, and compares what they lead to with what is stored of the version in clear. */
async function assertPast(
  servers: Servers,
  place: Place,
  followers: readonly Follower[],
  tokenOf: (customer: string) => string,
): Promise<number> {
  let checked = 0
  for (let sample = 0; sample < SAMPLED; sample += 1) {
    const { customer, seen } = followers[sample % followers.length] ?? { customer: '', seen: [] }
    const event = seen[randomInt(seen.length)]
    if (event === undefined) continue
    const { id, kind } = event.object
    const asOf = encodeURIComponent(event.as_of)
    const isAccount = kind === 'fiat-accounts'
    const path = isAccount
      ? `/v2/transfer/fiat-accounts/${id}?include_deleted=true&as_of=${asOf}`
      : `/v2/statements?customer_id=${customer}&statement_ids=${id}&as_of=${asOf}`
    const { status, text } = await servers.send(path, tokenOf(customer))
    assert.equal(status, 200, text)
    const at = parseInstant(event.created_at)?.micros
    const [table, shown] = isAccount ? ['fiat_account', 'masked'] : ['statement', 'body']
    const [[body] = []] = await place.ask(`
      select body from bursar.${table} as record where ${recordIs(place, id)} and stored_at = ${at}
      union all select ${shown} from bursar.history where id = '${id}' and stored_at = ${at}`)
    const answered = isAccount ? JSON.stringify(maskOf(JSON.parse(text))) : text
    assert.equal(answered, isAccount ? body : `{"statements":[${body}]}`, event.type)
    checked += 1
  }
  return checked
}

const maskOf = fiatAccount.resource.mask ?? assert.fail

const recordIs = ({ engine }: Place, id: string) =>
  engine === 'postgres'
    ? `record.id = '${id}'`
    : `lower(substr(hex(record.position), 17)) = '${id.replaceAll('-', '')}'`

describe('followers of the feed while servers are killed', () => {
  for (const [name, open] of [
    ['the embedded store', embedded],
    ['PostgreSQL', postgres],
  ] as const) {
    test(`see each version of ${name} once, in order`, async (t) => {
      const place = await open()
      t.after(place.remove)
      await assertFeeds(t, place)
    })
  }
})

import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { type CustomerKey, digestOf, Secret } from '@bursar/base'
import {
  bindNumber,
  keyFingerprint,
  unwrapCustomerKey,
  wrapCustomerKey,
} from '../../packages/base/src/vault/customer-key.ts'
import { systemRandom } from '../../packages/base/src/vault/random.ts'
import { openBody, sealBody } from '../../packages/base/src/vault/sealed-body.ts'
import { masterKeyOf, unwrapKey } from '../../packages/base/src/vault/wrap.ts'
import { fiatAccount } from '../../packages/contract/src/resources/fiat-account.ts'
import { withPrimary } from '../../packages/postgres/src/cluster/with-primary.ts'
import { privateTerm } from '../../packages/records/src/records/terms.ts'
import { isLong } from '../support/long.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId, someDepositInstructions } from '../support/records.ts'
import { addressesOf } from '../support/test-database.ts'
import { untilHolds } from '../support/until.ts'
import { type Sent, send } from './support/client.ts'
import { serve } from './support/cluster.ts'
import { embedded, type Place, postgres } from './support/places.ts'

/**
 * Somebody has master key 1 and copies of both stores. Then the procedure of docs/running.md is
 * followed word by word, and all that is stored afterwards is tried with every key that leaked.
 */

const section = readFileSync('docs/running.md', 'utf8').split(
  '\n### The master key has leaked\n',
)[1]
/** The commands of the procedure, in their order. */
const procedure = [
  ...(section?.split('\n## ')[0] ?? '').matchAll(/npm run -s bursar -- (.*)/g),
].map(([, words = '']) => words.split(' '))

const KILLS = isLong ? 200 : 20
const OLD = ['ash', 'birch', 'cedar', 'dogwood', 'elm']
const NEW = ['fir', 'gorse', 'holly', 'ivy', 'juniper']
const scopes = 'transfer:read_fiat_account events:read_event'

const numberOf = (at: number) => `88${String(at).padStart(8, '0')}`
const accountOf = (customer: string, at: number, over: Parameters<typeof aFiatAccount>[0] = {}) =>
  aFiatAccount({
    id: anId(at),
    ref_id: `${customer}-${at}`,
    customer_id: customer,
    fiat_network_instructions: { scb: { account_number: numberOf(at) } },
    fiat_account_owner: { institution_details: { name: 'Zebedee Works' } },
    ...over,
  })
const accountsOf = (customers: readonly string[], from: number, over = {}) =>
  customers.flatMap((customer, at) =>
    [0, 1, 2].map((more) => accountOf(customer, from + at * 10 + more, over)),
  )
const instructionsOf = (customers: readonly string[], from: number) =>
  customers.map((customer, at) =>
    someDepositInstructions({
      id: anId(from + at),
      customer_id: customer,
      memo_id: `MEMO${String(from + at).padStart(12, '0')}`,
      profile_id: `profile-${from + at}`,
      ref_id: `instructions-${from + at}`,
    }),
  )

/** Both databases of a place, past the program. */
function openTables({ engine, env, superuserUrl = '' }: Place) {
  const files = [env.DATABASE_URL?.slice('sqlite:'.length) ?? '']
  files.push(files[0]?.replace(/\.db$/, '.credentials.db') ?? '')
  return async (sql: string, values: readonly (string | number)[] = []) => {
    if (engine === 'postgres') {
      return await withPrimary(addressesOf(superuserUrl), async (connection) => {
        const rows = await connection.query({ text: sql, values: [...values] })
        return rows.map((row) => row.map((cell) => (cell === null ? '' : String(cell))))
      })
    }
    const isOfRecords = !/purpose_key|client|bursar_audit/.test(sql.replace('client_id', ''))
    using db = new DatabaseSync(files[isOfRecords ? 0 : 1] ?? '')
    const text = sql.replaceAll('bursar_audit.', 'audit_').replaceAll('bursar.', '')
    const rows = db.prepare(text.replaceAll(/\$(\d)/g, '?$1')).all(...values)
    return rows.map((row) => Object.values(row).map((cell) => String(cell ?? '')))
  }
}

type Tables = ReturnType<typeof openTables>

/** Every key that master key 1 and the present tables give away. */
async function steal(ask: Tables, masterKey: string) {
  const master = masterKeyOf(new Secret(masterKey))
  const purposeKeys = new Map<string, { id: string; purpose: string; key: Buffer }>()
  for (const [id = '', purpose = '', wrapped = ''] of await ask(
    'select id, purpose, wrapped from bursar.purpose_key',
  )) {
    const key = unwrapKey(master, wrapped, `${id}|${purpose}`)
    if (key !== undefined) purposeKeys.set(id, { id, purpose, key })
  }
  const customerKeys: CustomerKey[] = []
  for (const [customerId = '', id = '', kek = '', indexKey = '', wrapped = ''] of await ask(
    'select customer_id, id, kek, index_key, wrapped from bursar.customer_key',
  )) {
    const [wrapping, index] = [purposeKeys.get(kek), purposeKeys.get(indexKey)]
    if (wrapping === undefined || index === undefined) continue
    const row = { customerId, id, kek, indexKey, wrapped }
    const key = unwrapCustomerKey(row, wrapping, index.key)
    if (key !== undefined) customerKeys.push(key)
  }
  return { purposeKeys, customerKeys }
}

const run = async (words: readonly string[], env: Readonly<Record<string, string>>, stdin = '') => {
  const { code, output, errors } = await runProgram(words, { env, stdin })
  assert.equal(code, 0, `${words.join(' ')}: ${errors}`)
  return output
}

const importAll = (
  kind: string,
  records: readonly object[],
  env: Readonly<Record<string, string>>,
) => run(['import', kind, '-'], env, records.map((record) => JSON.stringify(record)).join('\n'))

async function answerOf(url: string, path: string, sent: Sent = {}) {
  const answer = await send(url, path, sent)
  assert.ok(answer.kind === 'answered', JSON.stringify(answer))
  return answer
}

type Credentials = { readonly client_id: string; readonly client_secret: string }

const createClient = async (words: readonly string[], env: Readonly<Record<string, string>>) =>
  JSON.parse(await run(['client', 'create', '--name', 'x', '--json', ...words], env)) as Credentials

const grant = ({ client_id, client_secret }: Credentials) =>
  `grant_type=client_credentials&client_id=${client_id}&client_secret=${client_secret}`

async function tokenOf(url: string, client: Credentials): Promise<string> {
  const sent = { method: 'POST', body: grant(client) }
  const { status, text } = await answerOf(url, '/oauth2/token', sent)
  assert.equal(status, 200, text)
  return JSON.parse(text).access_token
}

async function assertShutOut(t: TestContext, place: Place): Promise<void> {
  const ask = openTables(place)
  const [first, second] = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64'))
  const shared = { ...place.env, BURSAR_PUBLIC_URL: 'http://bursar.test', LOG_LEVEL: 'error' }
  const before = { ...shared, BURSAR_MASTER_KEY: first ?? '' }
  const after = { ...shared, BURSAR_MASTER_KEY: second ?? '' }
  const both = { ...after, BURSAR_MASTER_KEY_PREVIOUS: first ?? '' }
  await importAll('fiat-accounts', accountsOf(OLD, 100), before)
  await importAll('fiat-deposit-instructions', instructionsOf(OLD, 5000), before)
  const reader = await createClient(['--customer', 'ash', '--scope', scopes], before)
  const old = await serve(before)
  const oldToken = await tokenOf(old.url, reader)
  const list = '/v2/transfer/fiat-accounts?limit=1'
  const page = await answerOf(old.url, list, { token: oldToken })
  const cursor = JSON.parse(page.text).next_page_cursor
  const feed = await answerOf(old.url, '/v2/events', { token: oldToken })
  const { items: events, resume_cursor: place1 } = JSON.parse(feed.text)
  const stolen = await steal(ask, before.BURSAR_MASTER_KEY)
  assert.deepEqual([stolen.purposeKeys.size, stolen.customerKeys.length], [9, OLD.length])
  assert.equal(await countOpened(ask, stolen.customerKeys), 15)
  await old.program.kill('SIGTERM')

  // The change of the master key, and then the procedure.
  await run(['keys', 'rotate-master'], both)
  const { url, program } = await serve(after)
  t.after(() => program.kill('SIGKILL'))
  const printed: string[] = []
  for (const words of procedure) printed.push(await run(words, after))
  assert.equal(printed.length, 4)
  assert.doesNotMatch(printed[2] ?? '', / older /)
  assert.match(printed[3] ?? '', new RegExp(reader.client_id))

  // What is stored from then on, of customers old and new.
  const everyone = [...OLD, ...NEW]
  const writing = await createClient(
    ['--operator', '--scope', 'ingest:write_fiat_accounts ingest:search ingest:read_record'],
    after,
  )
  await importAll('fiat-accounts', accountsOf(everyone, 1000), after)
  await importAll('fiat-deposit-instructions', instructionsOf(NEW, 6000), after)
  const operator = await tokenOf(url, writing)
  for (const [at, customer] of everyone.entries()) {
    const { id, ...body } = accountOf(customer, 3000 + at)
    const sent = { method: 'PUT', token: operator, body: JSON.stringify(body) }
    const { status, text } = await answerOf(url, `/ingest/v1/fiat-accounts/${id}`, sent)
    assert.equal(status, 201, text)
  }
  assert.equal(await countFound(url, 'zebedee', operator), 15 + 30 + 10)

  await assertNothingOpens(ask, stolen, before.BURSAR_MASTER_KEY)
  await assertNothingForged(ask, stolen, { url, env: after, reader })

  // Readers: the secret and the ids stay, tokens and cursors do not.
  assert.equal((await answerOf(url, list, { token: oldToken })).status, 401)
  const token = await tokenOf(url, reader)
  for (const path of [`${list}&page_cursor=${cursor}`, `/v2/events?page_cursor=${place1}`]) {
    assert.equal((await answerOf(url, path, { token })).status, 400)
  }
  const last = events.at(-1)
  const since = encodeURIComponent(last.created_at)
  const next = await answerOf(url, `/v2/events?created_at.gte=${since}`, { token })
  const ids = JSON.parse(next.text).items.map(({ id }: { id: string }) => id)
  const known = events.map(({ id }: { id: string }) => id)
  assert.deepEqual(ids.slice(0, known.length), known)
  assert.equal(ids.length, known.length + 4)
}

async function countFound(url: string, query: string, token: string): Promise<number> {
  let count = 0
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const path = `/ingest/v1/search?q=${query}&page_cursor=${encodeURIComponent(cursor)}`
    const { status, text } = await answerOf(url, path, { token })
    assert.equal(status, 200, text)
    const page = JSON.parse(text)
    count += page.hits.length
    cursor = page.next_page_cursor
  }
  return count
}

type Stolen = Awaited<ReturnType<typeof steal>>

/** How many sealed bodies leaked keys open, or show the digits of by their digests. */
async function countOpened(ask: Tables, customerKeys: readonly CustomerKey[]): Promise<number> {
  const bodies = await ask(`
    select 'fiat-accounts', id, body, checksum from bursar.fiat_account_full
    union all select kind, id, body, checksum from bursar.history`)
  // The masked digits are among these guesses.
  const accounts = [...accountsOf(OLD, 100), ...accountsOf([...OLD, ...NEW], 1000)]
  const guesses = accounts.map((account) => JSON.stringify(account))
  let opened = 0
  for (const [kind = '', id = '', body = '', checksum = ''] of bodies) {
    for (const key of customerKeys) {
      const place = { customerId: key.customerId, kind, id, digest: Number(checksum) }
      const isGuessed = guesses.some((guess) => digestOf(key, kind, id, guess) === place.digest)
      if (openBody(key, place, body) !== undefined || isGuessed) opened += 1
    }
  }
  return opened
}

async function assertNothingOpens(ask: Tables, stolen: Stolen, masterKey: string): Promise<void> {
  const { purposeKeys, customerKeys } = stolen
  const again = await steal(ask, masterKey)
  assert.deepEqual([again.purposeKeys.size, again.customerKeys.length], [0, 0])
  const keks = [...purposeKeys.values()]
  const rows = await ask('select customer_id, id, kek, index_key, wrapped from bursar.customer_key')
  assert.equal(rows.length, 10)
  for (const [customerId = '', id = '', kek = '', indexKey = '', wrapped = ''] of rows) {
    assert.ok(!purposeKeys.has(kek) && !purposeKeys.has(indexKey))
    for (const key of keks) {
      const row = { customerId, id, kek, indexKey, wrapped }
      assert.equal(unwrapCustomerKey(row, key, Buffer.alloc(32)), undefined)
    }
  }
  assert.equal(await countOpened(ask, customerKeys), 0)
  const instructions = await ask('select body, checksum from bursar.fiat_deposit_instructions')
  assert.equal(instructions.length, 10)
  for (const [body = '', checksum = ''] of instructions) {
    const { id } = JSON.parse(body)
    for (const key of customerKeys) {
      assert.notEqual(digestOf(key, 'fiat-deposit-instructions', id, body), Number(checksum))
    }
  }
  const terms = new Set((await ask('select term from bursar.record_term')).map(([term]) => term))
  const { terms: ofAccounts } = fiatAccount.resource
  assert.ok(ofAccounts !== undefined && terms.size > 0)
  for (const { key } of purposeKeys.values()) {
    for (const word of ['zebedee', 'works']) {
      assert.ok(!terms.has(privateTerm(ofAccounts, key, word)), word)
    }
  }
  const bindings = await ask('select id, number, binding from bursar.customer')
  for (const [id = '', number = '', binding = ''] of bindings) {
    for (const key of keks) assert.notEqual(bindNumber(key, id, BigInt(number)), binding)
  }
  for (const [seal = ''] of await ask('select seal from bursar.client')) {
    assert.ok(!purposeKeys.has(seal.split(':')[1] ?? ''), seal)
  }
  const lines = await ask('select key_id from bursar_audit.line order by at desc limit 20')
  for (const [keyId = ''] of lines) assert.ok(!purposeKeys.has(keyId))
}

type Forging = {
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  readonly reader: Credentials
}

/** The thief can write to the database now, too, and makes rows with the keys of the copy. */
async function assertNothingForged(
  ask: Tables,
  { purposeKeys, customerKeys }: Stolen,
  { url, env, reader }: Forging,
): Promise<void> {
  const keyFor = (purpose: string) => {
    const found = purposeKeys.values().find((key) => key.purpose === purpose)
    return found ?? assert.fail(purpose)
  }
  const token = await tokenOf(url, reader)
  const get = (at: number) =>
    answerOf(url, `/v2/transfer/fiat-accounts/${anId(at)}`, { token }).then(({ status }) => status)
  const [ash] = customerKeys.filter(({ customerId }) => customerId === 'ash')
  assert.ok(ash !== undefined)
  assert.match(keyFingerprint(ash), /^[0-9a-f]{64}$/)
  // A record of the thief’s making, with the leaked key of its customer.
  assert.equal(await get(1000), 200)
  const body = JSON.stringify({ id: anId(1000), status: 'FORGED' })
  const digest = digestOf(ash, 'fiat-accounts', anId(1000), body)
  const at = { customerId: 'ash', kind: 'fiat-accounts', id: anId(1000), digest }
  const [[stored = '', checksum = ''] = []] = await ask(
    `select body, checksum from bursar.fiat_account_full where id = '${anId(1000)}'`,
  )
  const put = (text: string, sum: number) =>
    ask(
      `update bursar.fiat_account_full set body = '${text}', checksum = ${sum} where id = '${anId(1000)}'`,
    )
  const wrapped = wrapCustomerKey(ash, keyFor('customer-key'), systemRandom)
  await ask(`insert into bursar.customer_key
    (customer_id, id, kek, index_key, wrapped, created_at, current, seals_all) values
    ('ash', '${wrapped.id}', '${wrapped.kek}', '${wrapped.indexKey}', '${wrapped.wrapped}', 0, false, true)`)
  await put(sealBody(ash, at, body), digest)
  assert.equal(await get(1000), 503)
  await put(stored, Number(checksum))
  await untilHolds('the record is read again', async () => (await get(1000)) === 200)
  await ask(`delete from bursar.customer_key where id = '${wrapped.id}'`)
  // A number that is bound with the leaked key.
  const [[number = '', binding = ''] = []] = await ask(
    `select number, binding from bursar.customer where id = 'birch'`,
  )
  const forged = bindNumber(keyFor('customer-number'), 'birch', BigInt(number))
  await ask(`update bursar.customer set binding = '${forged}' where id = 'birch'`)
  const birch = await createClient(['--customer', 'birch', '--scope', scopes], env)
  await untilHolds('the server knows the client', async () => {
    const sent = { method: 'POST', body: grant(birch) }
    return (await answerOf(url, '/oauth2/token', sent)).status === 200
  })
  const list = { token: await tokenOf(url, birch) }
  assert.equal((await answerOf(url, '/v2/transfer/fiat-accounts', list)).status, 503)
  await ask(`update bursar.customer set binding = '${binding}' where id = 'birch'`)
  // A mark with the leaked key: it names a key under which nothing is accepted.
  const { id } = keyFor('client-row')
  await ask(
    `update bursar.client set seal = 'v1:${id}:' || substr(seal, length(seal) - 63) where id = '${birch.client_id}'`,
  )
  await untilHolds('the client is refused', async () => {
    const sent = { method: 'POST', body: grant(birch) }
    return (await answerOf(url, '/oauth2/token', sent)).status === 401
  })
  const listed = JSON.parse(await run(['keys', 'list', '--json'], env)).keys
  for (const { key_id, state } of listed) {
    if (purposeKeys.has(key_id) && state !== 'revoked') {
      assert.equal(purposeKeys.get(key_id)?.purpose, 'client-secret')
    }
  }
}

for (const [name, open] of [
  ['the embedded store', embedded],
  ['PostgreSQL', postgres],
] as const) {
  describe(`${name}: a master key that has leaked`, () => {
    test('opens nothing that is stored after the procedure', async (t) => {
      const place = await open()
      t.after(place.remove)
      await assertShutOut(t, place)
    })

    test('is renewed beside writers and readers, killed again and again', async (t) => {
      const place = await open()
      t.after(place.remove)
      await assertRenewedBeside(t, place)
    })
  })
}

async function assertRenewedBeside(t: TestContext, place: Place): Promise<void> {
  const env = {
    BURSAR_MASTER_KEY: randomBytes(32).toString('base64'),
    ...place.env,
    BURSAR_PUBLIC_URL: 'http://bursar.test',
    BURSAR_TOKEN_LIFE_SECONDS: '3600',
    LOG_LEVEL: 'error',
  }
  const many = Array.from({ length: 600 }, (_, at) => accountOf(OLD[at % 5] ?? '', 10_000 + at))
  await importAll('fiat-accounts', many, env)
  const reader = await createClient(['--customer', 'ash', '--scope', scopes], env)
  const words = ['--operator', '--scope', 'ingest:write_fiat_accounts']
  const writer = await createClient(words, env)
  const { url, program } = await serve(env)
  t.after(() => program.kill('SIGKILL'))
  const tokens = { read: await tokenOf(url, reader), write: await tokenOf(url, writer) }
  const counts = { answered: 0, refused: 0 }
  let [isOver, longestMs] = [false, 0]
  /** Asks until it is answered. A refusal must end soon. */
  const ask = async (path: string, sent: Sent) => {
    const begun = performance.now()
    for (;;) {
      const { status, text } = await answerOf(url, path, sent)
      if (status < 300) {
        counts.answered += 1
        longestMs = Math.max(longestMs, performance.now() - begun)
        return text
      }
      assert.equal(status, 503, text)
      counts.refused += 1
      await passing(50)
    }
  }
  const write = async (at: number) => {
    for (let round = 1; !isOver; round += 1) {
      const number = `${numberOf(at)}${round}`
      const fiat_network_instructions = { scb: { account_number: number } }
      const { id, ...body } = accountOf('ash', at, { fiat_network_instructions })
      const sent = { method: 'PUT', token: tokens.write, body: JSON.stringify(body) }
      await ask(`/ingest/v1/fiat-accounts/${id}`, sent)
      const text = await ask(`/v2/transfer/fiat-accounts/${id}`, { token: tokens.read })
      assert.equal(JSON.parse(text).fiat_network_instructions.scb.account_number, number)
      await passing(10)
    }
  }
  const stream = async () => {
    for (let round = 1; !isOver; round += 1) {
      const customer = `new-${round}`
      const lines = [0, 1, 2].map((at) =>
        JSON.stringify(accountOf(customer, 50_000 + round * 10 + at)),
      )
      await ask('/ingest/v1/fiat-accounts', {
        method: 'POST',
        token: tokens.write,
        body: lines.join('\n'),
      })
      await passing(200)
    }
  }
  const working = [write(20_001), write(20_002), stream()]
  const failed = Promise.all(working).then(() => {})
  failed.catch(() => {})
  let tookMs = 9000
  for (let kill = 0; kill < KILLS; kill += 1) {
    const begunAt = performance.now()
    const command = startProgram(
      kill % 4 === 0 ? ['keys', 'rotate', '--purpose', 'customer-key'] : ['keys', 'reseal'],
      { env },
    )
    await Promise.race([passing(randomInt(Math.ceil(tookMs))), command.ended, failed])
    await command.kill('SIGKILL')
    if (kill % 4 !== 0) tookMs = Math.max(500, Math.min(tookMs, performance.now() - begunAt))
  }
  await run(['keys', 'reseal'], env)
  isOver = true
  await failed
  assert.doesNotMatch(await run(['keys', 'list'], env), / older /)
  // It opens each body.
  await run(['export', 'fiat-accounts'], env)
  t.diagnostic(
    `${counts.answered} answered, ${counts.refused} refused, the longest for ${Math.round(longestMs)} ms`,
  )
}

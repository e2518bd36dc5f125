import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { refusePooler } from '../../packages/postgres/src/cluster/find-pooler.ts'
import { withPrimary } from '../../packages/postgres/src/cluster/with-primary.ts'
import { pinnedSettings } from '../../packages/postgres/src/driver/required-settings.ts'
import { operatorSessions, readingSessions } from '../../packages/postgres/src/driver/sessions.ts'
import { freePort } from '../support/free-port.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { addressesOf } from '../support/test-database.ts'
import { until } from '../support/until.ts'
import { consume, quote } from './support/acts.ts'
import { type Answer, send, statusOf } from './support/client.ts'
import { hasPgBouncer, type PgBouncer, startPgBouncer } from './support/pgbouncer.ts'

const DATABASE = 'pooled'
/** Sessions of each role behind the pooler: fewer than each server has connections to it. */
const SESSIONS = 5
const WRITERS = 4
/** Requests of the clients of a server that are acknowledged before and after a kill. */
const ENOUGH = 100
/** Single records wait for a merge, and more than 5 s would be a 503 without a pooler too. */
const FILE_RECORDS = 500
const STREAM_RECORDS = 50

let server: PostgresServer
let pooler: PgBouncer
before(async () => {
  if (!hasPgBouncer) return
  server = await startPostgres()
  await ask('create role owner login; create role bursar login; create role bursar_operator login')
  await ask(`create database ${DATABASE} owner owner`)
  pooler = await startPgBouncer(server, {
    mode: 'transaction',
    lines: [`default_pool_size = ${SESSIONS}`],
  })
})
after(async () => {
  await pooler?.stop()
  await server?.stop()
})

const ask = (sql: string, database = 'postgres'): Promise<void> =>
  withPrimary(addressesOf(server.url('postgres', database)), (connection) =>
    connection.execute(sql),
  )

const masterKey = randomBytes(32).toString('base64')

const environment = (setting = 'transaction') => ({
  DATABASE_URL: pooler.url('bursar', DATABASE),
  OPERATOR_DATABASE_URL: pooler.url('bursar_operator', DATABASE),
  BURSAR_MASTER_KEY: masterKey,
  BURSAR_POOLER: setting,
  // Two servers and two databases share the processor.
  BURSAR_DATABASE_TIMEOUT_MS: '20000',
  BURSAR_ACCEPT_SAMPLE_FEES: 'true',
  BURSAR_FEE_QUOTES_OPEN_MAX: '100000',
  LOG_LEVEL: 'warn',
})

async function run(words: readonly string[], stdin?: string): Promise<string> {
  const { code, output, errors } = await runProgram(words, {
    env: environment(),
    ...(stdin !== undefined && { stdin }),
  })
  assert.equal(code, 0, errors)
  return output
}

const migrate = (...words: readonly string[]) =>
  runProgram(['migrate', '--json', ...words], {
    env: { ...environment(), DATABASE_URL: pooler.url('owner', DATABASE) },
  })

type Client = { readonly client_id: string; readonly client_secret: string }

const createClient = async (...words: readonly string[]): Promise<Client> =>
  JSON.parse(await run(['client', 'create', ...words, '--name', 'pooled', '--json']))

async function tokenOf(url: string, { client_id, client_secret }: Client): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id,
    client_secret,
  })
  const answer = await send(url, '/oauth2/token', { method: 'POST', body: form.toString() })
  assert.equal(statusOf(answer), 200)
  return JSON.parse(textOf(answer)).access_token
}

const textOf = (answer: Answer): string => (answer.kind === 'cut' ? '' : answer.text)

/** What was acknowledged, and every answer that was none of its operation's. */
type Ledger = {
  readonly records: Map<string, string>
  readonly quotes: Set<string>
  readonly consumed: Set<string>
  readonly wrong: string[]
}

type Writing = {
  readonly url: string
  readonly operator: string
  readonly customer: string
  readonly ledger: Ledger
  hasEnded(): boolean
  /** Counts a write that was acknowledged. */
  note(): void
}

const account = (id: string, tag: string) => aFiatAccount({ id, customer_id: 'ash', ref_id: tag })

/** A cut answers nothing: the request was stored or not. */
function noteUnless(ledger: Ledger, answer: Answer, right: readonly number[]): boolean {
  const status = statusOf(answer)
  if (status !== 0 && !right.includes(status)) ledger.wrong.push(`${status} ${textOf(answer)}`)
  return right.includes(status)
}

/** Each writer has its own id in each server's turn, so that the last write is known. */
async function put(writing: Writing, at: number): Promise<void> {
  const { url, operator: token, ledger } = writing
  for (let count = 0; !writing.hasEnded(); count += 1) {
    const id = anId(at + 1000 * (count % 40))
    const tag = `put-${at}-${count}`
    const { id: _id, ...body } = account(id, tag)
    // Until it is acknowledged, either of the two is right.
    ledger.records.delete(id)
    const answer = await send(url, `/ingest/v1/fiat-accounts/${id}`, {
      method: 'PUT',
      token,
      body: JSON.stringify(body),
    })
    if (!noteUnless(ledger, answer, [200, 201])) return
    ledger.records.set(id, tag)
    writing.note()
  }
}

async function stream(writing: Writing, first: number): Promise<void> {
  const { url, operator: token, ledger } = writing
  for (let round = 0; !writing.hasEnded(); round += 1) {
    const tags = Array.from({ length: STREAM_RECORDS }, (_, at) => {
      const tag = `stream-${first}-${round}-${at}`
      return [anId(first + at), tag] as const
    })
    for (const [id] of tags) ledger.records.delete(id)
    const body = tags.map(([id, tag]) => JSON.stringify(account(id, tag))).join('\n')
    const answer = await send(url, '/ingest/v1/fiat-accounts', { method: 'POST', token, body })
    if (!noteUnless(ledger, answer, [200])) return
    for (const [id, tag] of tags) ledger.records.set(id, tag)
    writing.note()
  }
}

async function quoteFees({ ledger, ...writing }: Writing): Promise<void> {
  const { url, operator, customer } = writing
  for (let at = 0; !writing.hasEnded(); at += 1) {
    const answer = await quote(url, customer)
    if (!noteUnless(ledger, answer, [200, 201])) return
    const { id } = JSON.parse(textOf(answer))
    ledger.quotes.add(id)
    writing.note()
    if (at % 2 === 1) continue
    const taken = await consume(url, operator, id, `withdrawal ${id}`)
    if (!noteUnless(ledger, taken, [200])) return
    ledger.consumed.add(id)
  }
}

async function read({ ledger, ...writing }: Writing): Promise<void> {
  const { url, operator, customer } = writing
  while (!writing.hasEnded()) {
    const list = await send(url, '/v2/transfer/fiat-accounts?limit=50', { token: customer })
    if (!noteUnless(ledger, list, [200])) return
    const [item] = JSON.parse(textOf(list)).items
    if (item === undefined) continue
    const history = `/ingest/v1/fiat-accounts/${item.id}/history`
    if (!noteUnless(ledger, await send(url, history, { token: operator }), [200])) return
  }
}

const customerScopes = 'transfer:read_fiat_account fee:write_crypto_withdrawal_fee'
const operatorScopes =
  'ingest:write_fiat_accounts ingest:read_record ingest:read_history ingest:consume_fee'

async function serve(port: number): Promise<{ program: Program; url: string }> {
  const env = {
    ...environment(),
    PORT: String(port),
    BURSAR_PUBLIC_URL: 'http://127.0.0.1',
  }
  const program = startProgram(['serve', '--json'], { env })
  await program.firstLine
  return { program, url: `http://127.0.0.1:${port}` }
}

const skip = hasPgBouncer ? false : 'PgBouncer is not installed: apt-get install pgbouncer'

describe('PgBouncer in transaction mode', { skip }, () => {
  test('is refused without the setting, with what to set', async () => {
    const { code, errors } = await runProgram(['serve', '--json'], { env: environment('none') })
    assert.equal(code, 2)
    assert.match(
      errors,
      /127\.0\.0\.1:\d+ is a pooler that gives each transaction another session\. Set BURSAR_POOLER=transaction, run migrate with it, and start again\./,
    )
  })

  test('is a finding of doctor without the setting', async () => {
    const { code, output } = await runProgram(['doctor', '--json'], { env: environment('none') })
    assert.equal(code, 1)
    const { checks } = JSON.parse(output)
    const [found] = checks.find(({ name }: { name: string }) => name === 'pooler').findings
    assert.match(
      found.what,
      /127\.0\.0\.1:\d+ is a pooler that gives each transaction another session/,
    )
    assert.match(found.fix, /^Set BURSAR_POOLER=transaction, run migrate with it, and start again$/)
  })

  test('is not seen in a direct connection or in session mode', async () => {
    const inSession = await startPgBouncer(server, { mode: 'session' })
    try {
      await refusePooler(addressesOf(server.url('bursar', DATABASE)))
      await refusePooler(addressesOf(inSession.url('bursar', DATABASE)))
    } finally {
      await inSession.stop()
    }
    const transactions = addressesOf(pooler.url('bursar', DATABASE))
    await assert.rejects(refusePooler(transactions), { name: 'ConfigError' })
  })

  test('has the settings of the roles from migrate, which says what a superuser must run', async () => {
    const refused = await migrate()
    assert.equal(refused.code, 2, refused.errors)
    const statements = refused.errors.match(/^alter role .*;$/gm) ?? []
    assert.equal(statements.length, 54, refused.errors)
    const early = await runProgram(['serve', '--json'], { env: environment() })
    assert.match(
      early.errors,
      /of role bursar have DateStyle = ISO, MDY \(source: configuration file\), not ISO, YMD and .* Run /,
    )
    await ask(statements.join('\n'), DATABASE)
    await pooler.stop()
    pooler = await startPgBouncer(server, {
      mode: 'transaction',
      lines: [`default_pool_size = ${SESSIONS}`],
    })
    const done = await migrate()
    assert.equal(done.code, 0, done.errors)
  })

  test('loses no acknowledged write and answers no 5xx, while a server is killed', async () => {
    const operatorClient = await createClient('--operator', '--scope', operatorScopes)
    const customerClient = await createClient('--customer', 'ash', '--scope', customerScopes)
    const ports = [await freePort(), await freePort()] as const
    let killed = await serve(ports[0])
    const stays = await serve(ports[1])
    const ledger: Ledger = {
      records: new Map(),
      quotes: new Set(),
      consumed: new Set(),
      wrong: [],
    }
    let hasEnded = false
    try {
      const operator = await tokenOf(stays.url, operatorClient)
      const customer = await tokenOf(stays.url, customerClient)
      const writeTo = (url: string, first: number) => {
        let acknowledged = 0
        const note = () => {
          acknowledged += 1
        }
        const writing = { url, operator, customer, ledger, hasEnded: () => hasEnded, note }
        const clients = Promise.all([
          ...Array.from({ length: WRITERS }, (_, at) => put(writing, first + at)),
          stream(writing, first + 100_000),
          ...Array.from({ length: 2 }, () => quoteFees(writing)),
          read(writing),
        ])
        clients.catch(() => undefined)
        const untilMore = async () => {
          const before = acknowledged
          // A wrong answer ends its client, and the test at once.
          const isDone = () => ledger.wrong.length > 0 || acknowledged >= before + ENOUGH
          await until(isDone)
        }
        return { clients, untilMore }
      }
      const file = Array.from({ length: FILE_RECORDS }, (_, at) =>
        JSON.stringify(account(anId(900_000 + at), `file-${at}`)),
      )
      const importing = run(['import', 'fiat-accounts', '-'], file.join('\n'))
      const [staying, cut] = [writeTo(stays.url, 0), writeTo(killed.url, 100)]
      await Promise.all([staying.untilMore(), cut.untilMore()])
      await killed.program.kill('SIGKILL')
      killed = await serve(ports[0])
      const again = writeTo(killed.url, 200)
      await Promise.all([staying.untilMore(), again.untilMore()])
      await until(() => ledger.wrong.length > 0 || ledger.consumed.size > 10)
      hasEnded = true
      await Promise.all([staying, cut, again].map(({ clients }) => clients))
      await importing
      assert.deepEqual(ledger.wrong, [], stays.program.errors() + killed.program.errors())
      assert.equal((await listening()).length, 0)
      const exported = (await run(['export', 'fiat-accounts'])).trim().split('\n')
      const stored = new Map(exported.map((line) => JSON.parse(line)).map((r) => [r.id, r.ref_id]))
      for (const at of file.keys()) {
        assert.equal(stored.get(anId(900_000 + at)), `file-${at}`)
      }
      for (const [id, tag] of ledger.records) assert.equal(stored.get(id), tag, id)
      const fees = await feesOf()
      for (const id of ledger.quotes) assert.ok(fees.has(id), `the fee quote ${id} is stored`)
      for (const id of ledger.consumed) assert.equal(fees.get(id), `withdrawal ${id}`)

      // A change of a client reaches a server that cannot listen for it.
      await run(['client', 'disable', operatorClient.client_id])
      const path = `/ingest/v1/fiat-accounts/${anId(900_000)}`
      const isRefused = async () =>
        statusOf(await send(stays.url, path, { token: operator })) === 401
      await until(isRefused)
    } finally {
      await Promise.all([killed, stays].map(({ program }) => program.kill('SIGKILL')))
    }
  })

  test('answers readers that wait for events, though nobody can listen', async (t) => {
    const operatorClient = await createClient('--operator', '--scope', operatorScopes)
    const scopes = 'events:read_event transfer:read_fiat_account'
    const customerClient = await createClient('--customer', 'birch', '--scope', scopes)
    const otherClient = await createClient('--customer', 'cedar', '--scope', scopes)
    const { program, url } = await serve(await freePort())
    try {
      const operator = await tokenOf(url, operatorClient)
      const token = await tokenOf(url, customerClient)
      const cursorOf = (answer: Answer) =>
        `page_cursor=${encodeURIComponent(JSON.parse(textOf(answer)).resume_cursor)}`
      const start = cursorOf(await send(url, '/v2/events', { token }))
      const other = await tokenOf(url, otherClient)
      const begunAt = performance.now()
      // Nothing happens to the other customer, whose reader waits for all of its time.
      const inVain = send(
        url,
        `/v2/events?wait=30&${cursorOf(await send(url, '/v2/events', { token: other }))}`,
        { token: other },
      )
      const waiting = send(url, `/v2/events?wait=30&${start}`, { token })
      const record = aFiatAccount({ id: anId(990_000), customer_id: 'birch' })
      const { id, ...body } = record
      const path = `/ingest/v1/fiat-accounts/${id}`
      const written = await send(url, path, {
        method: 'PUT',
        token: operator,
        body: JSON.stringify(body),
      })
      assert.equal(statusOf(written), 201)
      const answer = await Promise.race([waiting, inVain])
      assert.equal(answer, await waiting, 'the reader is answered before its time is over')
      t.diagnostic(`answered after ${(performance.now() - begunAt).toFixed(0)} ms`)
      assert.equal(JSON.parse(textOf(answer)).items.length, 1)
      // At its end another one has the same cursor.
      const level = cursorOf(answer)
      assert.equal(cursorOf(await send(url, `/v2/events?wait=1&${level}`, { token })), level)
    } finally {
      await program.kill('SIGKILL')
    }
  })

  test('checks the store and runs a recovery', async () => {
    const checked = await migrate('--check')
    assert.equal(checked.code, 0, checked.errors)
    const { integrity_faults: faults, records_checked: records } = JSON.parse(checked.output)
    assert.deepEqual(faults, [])
    assert.ok(records >= FILE_RECORDS)
    await run(['reconcile', '--restored-to', new Date().toISOString()])
    await run(['reconcile', '--erasures', '/dev/null', '--yes'])
    await run(['reconcile', '--clients-confirmed'])
    await run(['reconcile', '--reconciled'])
    const recovery = 'select clients_confirmed_at, reconciled_at from bursar.recovery'
    const rows = await rowsOf(recovery)
    assert.equal(rows.length, 1)
    for (const at of Object.values(rows[0] ?? {})) assert.notEqual(at, null)
  })

  test('is checked for settings that a role has got since, by servers and by doctor', async () => {
    const refusal =
      /the sessions of role bursar have bytea_output = escape \(source: database user\), not hex/i
    const { program, url } = await serve(await freePort())
    const own = `alter role bursar in database ${DATABASE} set bytea_output =`
    try {
      await ask(`${own} 'escape'`)
      // As after RECONNECT.
      await ask(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'bursar'`)
      const isReady = async () => statusOf(await send(url, '/readyz', {})) === 200
      await until(async () => !(await isReady()))
      await until(() => refusal.test(program.errors()))
      const late = await runProgram(['serve', '--json'], { env: environment() })
      assert.equal(late.code, 2)
      assert.match(late.errors, refusal)
      const { output } = await runProgram(['doctor', '--json'], { env: environment() })
      const { checks } = JSON.parse(output)
      const { findings } = checks.find(({ name }: { name: string }) => name === 'sessions')
      assert.match(findings[0].what, refusal)
      await ask(`${own} 'hex'`)
      await ask(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'bursar'`)
      await until(isReady)
    } finally {
      await program.kill('SIGKILL')
    }
  })
})

describe('PgBouncer in session mode', { skip }, () => {
  const serveBehind = async (lines: readonly string[]) => {
    const inSession = await startPgBouncer(server, { mode: 'session', lines })
    const env = {
      ...environment('none'),
      DATABASE_URL: inSession.url('bursar', DATABASE),
      OPERATOR_DATABASE_URL: inSession.url('bursar_operator', DATABASE),
      PORT: '0',
    }
    return { env, [Symbol.asyncDispose]: inSession.stop }
  }

  test('that refuses settings of a session ends the start with its words', async () => {
    await using behind = await serveBehind([])
    const { code, errors } = await runProgram(['serve', '--json'], { env: behind.env })
    assert.equal(code, 2)
    assert.match(
      errors,
      /it refuses the settings with which a session starts \(08P01: unsupported startup parameter: \w+\)/,
    )
  })

  test('that drops them serves with those of the roles, and not without', async () => {
    const names = Object.keys({ ...pinnedSettings, ...readingSessions(1), ...operatorSessions })
    await using behind = await serveBehind([`ignore_startup_parameters = ${names.join(',')}`])
    const program = startProgram(['serve', '--json'], { env: behind.env })
    await program.firstLine
    await program.kill('SIGKILL')
    const own = `alter role bursar in database ${DATABASE}`
    await ask(`${own} reset row_security; alter database ${DATABASE} set row_security = off`)
    await ask(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'bursar'`)
    const { code, errors } = await runProgram(['serve', '--json'], { env: behind.env })
    await ask(`${own} set row_security = on; alter database ${DATABASE} reset row_security`)
    assert.equal(code, 2)
    assert.match(errors, /bursar have row_security = off \(source: database\), not on: row-level/)
  })
})

/** Asks the server past the pooler. */
const rowsOf = (text: string) =>
  withPrimary(addressesOf(server.url('postgres', DATABASE)), (connection) =>
    connection.rows({ text }),
  )

/** The sessions whose last statement was a LISTEN. */
const listening = () => rowsOf(`select pid from pg_stat_activity where query ilike 'listen %'`)

async function feesOf(): Promise<Map<string, string | undefined>> {
  const rows = await rowsOf('select id::text, withdrawal from bursar.fee_quote')
  return new Map(rows.map(({ id, withdrawal }) => [String(id), String(withdrawal ?? '')]))
}

import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, before, describe, test } from 'node:test'
import { temporaryFolder } from '../support/harness.ts'
import { longTest } from '../support/long.ts'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { quote } from './support/acts.ts'
import { type Answer, describeTimes, send } from './support/client.ts'

/** Processes on the embedded store while another process holds a lock on one of its files. */

const folder = temporaryFolder()
const records = join(folder, 'bursar.db')
const credentials = join(folder, 'bursar.credentials.db')
const env = {
  // A fast machine reads so often that the tokens of this test pass the limit.
  BURSAR_OAUTH_REQUESTS_PER_SECOND_MAX: '0',
  DATABASE_URL: `sqlite:${records}`,
  BURSAR_ACCEPT_SAMPLE_FEES: 'true',
  PORT: '0',
  LOG_LEVEL: 'info',
}
const accounts = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) =>
    JSON.stringify(aFiatAccount({ id: anId(from + at), ref_id: `ref-${from + at}` })),
  ).join('\n')

let form: string
let locks: DatabaseSync[] = []
const running = new Set<Program>()

before(async () => {
  const scope = 'transfer:read_fiat_account fee:write_crypto_withdrawal_fee'
  const words = ['client', 'create', '--customer', 'acme', '--name', 'locked', '--scope', scope]
  const made = await command([...words, '--json'])
  const { client_id, client_secret } = JSON.parse(made.output)
  form = `grant_type=client_credentials&client_id=${client_id}&client_secret=${client_secret}`
  assert.equal((await command(['import', 'fiat-accounts', '-'], accounts(1, 300))).code, 0)
})
afterEach(async () => {
  for (const lock of locks) lock.close()
  locks = []
  await Promise.all([...running].map((program) => program.kill('SIGKILL')))
  running.clear()
})
after(() => rmSync(folder, { recursive: true, force: true }))

function command(words: readonly string[], stdin?: string) {
  const given = stdin === undefined ? {} : { stdin }
  return runProgram(words, { env: { ...env, LOG_LEVEL: 'warn' }, ...given })
}

/**
 * Holds the write lock of a file, as the merge of an import does. Returns what releases it. A
 * server that has just started may still write, so the lock waits for it.
 */
function lock(path: string): () => void {
  const db = new DatabaseSync(path, { timeout: 60_000 })
  locks.push(db)
  db.exec('begin immediate')
  return () => db.exec('commit')
}

async function serve(): Promise<{ program: Program; url: string }> {
  const program = startProgram(['serve', '--json'], { env })
  running.add(program)
  return { program, url: JSON.parse(await program.firstLine).url }
}

const statusOf = (answer: Answer) => (answer.kind === 'answered' ? answer.status : answer.code)

async function tokenOf(url: string): Promise<string> {
  const answer = await send(url, '/oauth2/token', { method: 'POST', body: form })
  assert.ok(answer.kind === 'answered' && answer.status === 200, JSON.stringify(answer))
  return JSON.parse(answer.text).access_token
}

const read = (url: string, token: string) =>
  send(url, '/v2/transfer/fiat-accounts?limit=100', { token })

describe('while an import merges', () => {
  test('a server and commands start, and customers are answered', async () => {
    lock(records)
    const { url } = await serve()
    const token = await tokenOf(url)
    assert.equal(statusOf(await read(url, token)), 200)
    const exported = await command(['export', 'fiat-accounts'])
    assert.equal(exported.code, 0, exported.errors)
    assert.equal(exported.errors, '')
    assert.equal(exported.output.trim().split('\n').length, 300)
    const checked = await command(['migrate', '--check', '--json'])
    assert.deepEqual(JSON.parse(checked.output).applied, [], checked.errors)
  })

  test('another import waits for it', async () => {
    const release = lock(records)
    const path = join(folder, 'few.ndjson')
    writeFileSync(path, accounts(1000, 10))
    const importing = startProgram(['import', 'fiat-accounts', path, '--json'], { env })
    running.add(importing)
    // When the same import into a new store has ended, this one has had the time for it too.
    const elsewhere = { ...env, DATABASE_URL: `sqlite:${join(folder, 'new.db')}` }
    const free = await runProgram(['import', 'fiat-accounts', path], { env: elsewhere })
    assert.equal(free.code, 0, free.errors)
    assert.equal(importing.process.exitCode, null, importing.errors())
    release()
    assert.equal(await importing.ended, 0, importing.errors())
    assert.equal(JSON.parse(importing.output()).added, 10)
  })

  longTest('another import says after 60 s that it waited in vain', async () => {
    lock(records)
    const waited = await command(['import', 'fiat-accounts', '-'], accounts(2000, 1))
    assert.equal(waited.code, 1)
    assert.match(
      waited.errors,
      /^waiting: the end of another merge;.*\nanother process, such as an import, has written .* for 60 s;.*\n$/,
    )
  })
})

/** So few that the fee, which waits for the lock meanwhile, keeps its deadline of 5 s. */
const READS = 200

describe('while another process holds the lock of the credentials', () => {
  test('reads and tokens are answered as before, and a fee waits for the lock', async (t) => {
    const { url } = await serve()
    const token = await tokenOf(url)
    const release = lock(credentials)
    const fees = Array.from({ length: 5 }, () => quote(url, token))
    const reads: Answer[] = []
    // All of them are answered before the lock is released, so none of them waits for it.
    while (reads.length < READS) {
      reads.push(await read(url, token))
      if (reads.length % 50 === 0) await tokenOf(url)
    }
    assert.ok(reads.every((answer) => statusOf(answer) === 200))
    release()
    t.diagnostic(`${READS} reads, ${describeTimes(reads.map(({ ms }) => ms))}`)
    assert.deepEqual((await Promise.all(fees)).map(statusOf), Array(5).fill(200))
  })

  test('a fee and a revocation get 503 while it lasts, and succeed afterwards', async () => {
    const { program, url } = await serve()
    const token = await tokenOf(url)
    const revoke = () =>
      send(url, '/oauth2/revoke', { method: 'POST', body: `${form}&token=${token}` })
    const release = lock(credentials)
    const refused = await Promise.all([quote(url, token), revoke()])
    for (const answer of refused) {
      assert.equal(statusOf(answer), 503, JSON.stringify(answer))
      assert.ok(answer.kind === 'answered' && answer.headers['retry-after'] === '1')
    }
    assert.match(program.errors(), /another process has locked the database for too long/)
    release()
    assert.equal(statusOf(await quote(url, token)), 200)
    assert.equal(statusOf(await revoke()), 200)
    assert.equal(statusOf(await read(url, token)), 401)
  })
})

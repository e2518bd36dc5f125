import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { fetchToken, temporaryFolder } from '../support/harness.ts'
import { withdrawal } from '../support/operation-calls.ts'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { untilHolds } from '../support/until.ts'

/** The files of the embedded store disappear, fill up or are locked under a running server. */

const accounts = '/v2/transfer/fiat-accounts?limit=1'
const volume = temporaryFolder()
const isMounted = mounted(volume)
const env = {
  DATABASE_URL: `sqlite:${join(volume, 'bursar.db')}`,
  PORT: '0',
  BURSAR_ACCEPT_SAMPLE_FEES: 'true',
}
const scope = ['--scope', 'transfer:read_fiat_account fee:write_crypto_withdrawal_fee']
const records = join(volume, 'bursar.db')
const credentials = join(volume, 'bursar.credentials.db')

let program: Program
let url: string
let token: string

before(start)
after(async () => {
  await program.kill('SIGKILL')
  if (isMounted) execFileSync('umount', ['-l', volume])
  rmSync(volume, { recursive: true, force: true })
})

async function start(): Promise<void> {
  const created = await runProgram(
    ['client', 'create', '--customer', 'northwind', '--name', 'a', '--json', ...scope],
    { env },
  )
  const { client_id: clientId, client_secret: clientSecret } = JSON.parse(created.output)
  program = startProgram(['serve', '--json'], { env, mustExist: true })
  url = JSON.parse(await program.firstLine).url
  token = await fetchToken(url, { clientId, clientSecret, customerId: 'northwind' })
}

const statusOf = async (path: string, init: RequestInit = {}): Promise<number> =>
  (await fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${token}` } })).status

const quote = () =>
  statusOf('/v2/transfer/fees/crypto-withdrawal', {
    method: 'POST',
    body: JSON.stringify(withdrawal),
  })

const untilReadyIs = (status: number) =>
  untilHolds(`/readyz is ${status}`, async () => (await statusOf('/readyz')) === status)

const importing = (...words: string[]) =>
  runProgram(['import', 'fiat-accounts', 'examples/records/fiat-accounts.ndjson', ...words], {
    env,
    mustExist: true,
  })

test('a full disk makes the server unready, and reads go on', { skip: !isMounted }, async () => {
  await untilReadyIs(200)
  const ballast = join(volume, 'ballast')
  fill(ballast)
  await untilReadyIs(503)
  assert.equal(await statusOf(accounts), 200)
  assert.match(program.errors(), /"the disk of [^"]*bursar\.db is full: \d+ bytes are free/)
  rmSync(ballast)
  await untilReadyIs(200)
  assert.equal(await quote(), 200)
})

test('a lasting lock of the credentials makes the server unready, and reads go on', async () => {
  const other = new DatabaseSync(credentials)
  other.exec('begin immediate')
  await untilReadyIs(503)
  assert.equal(await statusOf(accounts), 200)
  other.exec('rollback')
  other.close()
  await untilReadyIs(200)
  assert.match(program.errors(), /has held the lock of [^"]*credentials\.db for \d+ s/)
})

describe('a file that disappears under a running server', () => {
  for (const path of [records, credentials]) {
    test(`stops every answer until it is back, and no import makes another: ${path.slice(volume.length + 1)}`, async () => {
      assert.equal(await statusOf(accounts), 200)
      renameSync(path, `${path}.away`)
      // What changes the store is not acknowledged, even before the next look.
      assert.equal(await quote(), 503)
      await untilReadyIs(503)
      assert.equal(await statusOf(accounts), 503)
      assert.equal((await fetch(`${url}/oauth2/token`, { method: 'POST' })).status, 503)
      assert.equal((await fetch(`${url}/healthz`)).status, 200)
      const ran = await importing()
      assert.equal(ran.code, 2, ran.errors)
      assert.ok(ran.errors.startsWith(`${path} is missing or empty, but `), ran.errors)
      assert.equal(existsSync(path), false)
      renameSync(`${path}.away`, path)
      await untilReadyIs(200)
      assert.equal(await statusOf(accounts), 200)
      assert.equal(await quote(), 200)
      const lines = program.errors().split('\n')
      const told = lines.filter((line) => line.includes(`"${path} is missing, but this process`))
      assert.ok(told.length >= 1, 'the log says what is missing')
      const refused = lines.find((line) => line.includes('"operation":"listFiatAccounts"'))
      assert.ok(refused !== undefined)
    })
  }

  test('stays refused when another store takes its place', { skip: !isMounted }, async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=700', 'tmpfs', volume])
    await untilReadyIs(503)
    assert.equal((await importing('--no-create')).code, 2)
    assert.equal((await importing()).code, 0)
    assert.equal(await statusOf('/readyz'), 503)
    assert.equal(await statusOf(accounts), 503)
    assert.match(program.errors(), /"[^"]*bursar\.db was replaced by another file, but/)
    execFileSync('umount', [volume])
    await untilReadyIs(200)
    assert.equal(await statusOf(accounts), 200)
  })
})

/** Whether a small file system could be mounted there, which needs root. */
function mounted(folder: string): boolean {
  try {
    const words = ['-t', 'tmpfs', '-o', 'size=64m,mode=700', 'tmpfs', folder]
    execFileSync('mount', words, { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

/** Writes until there is no room. */
function fill(path: string): void {
  const file = openSync(path, 'w')
  const block = Buffer.alloc(64 * 1024)
  try {
    for (;;) writeSync(file, block)
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
  } finally {
    closeSync(file)
  }
}

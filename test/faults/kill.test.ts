import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { freePort } from '../support/free-port.ts'
import { isLong } from '../support/long.ts'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { rawRequest } from '../support/raw-request.ts'
import { aFiatAccount, anIssuerQuote } from '../support/records.ts'
import { until } from '../support/until.ts'

/**
 * Processes that are killed with SIGKILL. Afterwards acknowledged writes are stored, others are
 * stored completely or not at all, and the store passes its integrity check.
 */

let folder: string
let env: Readonly<Record<string, string>>
let client: { client_id: string; client_secret: string }
const running = new Set<Program>()

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-kill-'))
  // The port stays the same over restarts, because the issuer of tokens contains it.
  const port = await freePort()
  env = {
    DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}`,
    PORT: String(port),
    LOG_LEVEL: 'warn',
  }
  const made = await run(['client', 'create', '--customer', 'acme', '--name', 'killed', '--json'])
  client = JSON.parse(made)
  await importAccounts(1, 300)
})
afterEach(async () => {
  await Promise.all([...running].map((program) => program.kill('SIGKILL')))
  running.clear()
})
after(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a command that must succeed and returns its output. */
async function run(words: readonly string[], stdin?: string): Promise<string> {
  const { code, output, errors } = await runProgram(words, {
    env,
    ...(stdin !== undefined && { stdin }),
  })
  assert.equal(code, 0, errors)
  return output
}

function start(words: readonly string[], stdin?: string, stdinStays?: 'open'): Program {
  const program = startProgram(words, {
    env,
    ...(stdin !== undefined && { stdin }),
    ...(stdinStays !== undefined && { stdinStays }),
  })
  running.add(program)
  return program
}

async function serve(): Promise<{ program: Program; url: string }> {
  const program = start(['serve', '--json'])
  return { program, url: JSON.parse(await program.firstLine).url }
}

const idOf = (at: number): string => {
  const hex = hash('sha256', `account ${at}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const accounts = (from: number, count: number, status = 'PENDING'): string =>
  Array.from({ length: count }, (_, at) =>
    JSON.stringify(aFiatAccount({ id: idOf(from + at), ref_id: `ref-${from + at}`, status })),
  ).join('\n')

const importAccounts = (from: number, count: number) =>
  run(['import', 'fiat-accounts', '-', '--json'], accounts(from, count))

const exported = async (kind = 'fiat-accounts'): Promise<string[]> =>
  (await run(['export', kind])).split('\n').filter((line) => line !== '')

async function assertIntegrity(): Promise<void> {
  const { applied, integrity_faults: faults } = JSON.parse(
    await run(['migrate', '--check', '--json']),
  )
  assert.deepEqual([applied, faults], [[], []])
}

async function fetchToken(url: string): Promise<string> {
  const answer = await rawRequest(url, '/oauth2/token', {
    method: 'POST',
    headers: ['content-type', 'application/x-www-form-urlencoded'],
    body: `grant_type=client_credentials&client_id=${client.client_id}&client_secret=${client.client_secret}`,
  })
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text).access_token
}

const readAccounts = (url: string, token: string, query = 'limit=1000') =>
  rawRequest(url, `/v2/transfer/fiat-accounts?${query}`, {
    headers: ['authorization', `Bearer ${token}`],
  })

/** Reads until the connection fails; every answer must be complete and valid. */
async function readUntilKilled(url: string, token: string, answered = () => {}): Promise<void> {
  for (;;) {
    const answer = await readAccounts(url, token).catch(() => undefined)
    if (answer === undefined) return
    assert.equal(answer.status, 200)
    assert.ok(JSON.parse(answer.text).items.length >= 300)
    answered()
  }
}

describe('kill -9', () => {
  test('of a server under traffic loses no record and no token', async () => {
    const { program, url } = await serve()
    const token = await fetchToken(url)
    const known = await readAccounts(url, token)
    const before = await exported()
    const counts = Array.from({ length: 6 }, () => 0)
    const readers = counts.keys().map((reader) =>
      readUntilKilled(url, token, () => {
        counts[reader] = (counts[reader] ?? 0) + 1
      }),
    )
    const reading = Promise.all(readers)
    await until(() => counts.every((count) => count >= 3))
    assert.equal(await program.kill('SIGKILL'), null)
    await reading

    await assertIntegrity()
    assert.deepEqual(await exported(), before)
    const again = await serve()
    assert.equal(again.url, url)
    const answer = await readAccounts(url, token)
    assert.equal(answer.status, 200)
    assert.equal(answer.text, known.text)
  })

  test('of a server right after a revocation leaves the token revoked', async () => {
    const { program, url } = await serve()
    const token = await fetchToken(url)
    const answer = await rawRequest(url, '/oauth2/revoke', {
      method: 'POST',
      headers: ['content-type', 'application/x-www-form-urlencoded'],
      body: `token=${token}&client_id=${client.client_id}&client_secret=${client.client_secret}`,
    })
    assert.equal(answer.status, 200)
    await program.kill('SIGKILL')
    await serve()
    assert.equal((await readAccounts(url, token)).status, 401)
    assert.equal((await readAccounts(url, await fetchToken(url))).status, 200)
  })

  test('of an import that is still reading leaves no record of it', async () => {
    const { url } = await serve()
    const token = await fetchToken(url)
    const known = await readAccounts(url, token)
    const before = await exported()
    // Half a file on an open pipe keeps the import in its middle.
    const half = start(['import', 'fiat-accounts', '-'], accounts(10_000, 5000), 'open')
    await half.taken
    assert.equal(half.process.exitCode, null)
    await half.kill('SIGKILL')
    await assertIntegrity()
    assert.deepEqual(await exported(), before)
    assert.equal((await readAccounts(url, token)).text, known.text)
  })

  test('of an import at any moment leaves all of its records or none', async () => {
    const count = 3000
    const path = join(folder, 'many.ndjson')
    const existing = (await exported()).length
    writeFileSync(path, accounts(100_000, count))
    const startedAt = performance.now()
    await run(['import', 'fiat-accounts', path, '--dry-run'])
    const tookMs = performance.now() - startedAt
    // The moments of the kill are spread over the time that the import may take. What is promised
    // holds for each of them, so the speed of the machine decides nothing.
    const moments = isLong ? 40 : 2
    for (let moment = 1; moment <= moments; moment += 1) {
      const program = start(['import', 'fiat-accounts', path, '--json'])
      const isEarly = Promise.race([
        program.ended.then(() => false),
        passing((tookMs * 1.3 * moment) / moments).then(() => true),
      ])
      if (await isEarly) await program.kill('SIGKILL')
      await assertIntegrity()
      const found = (await exported()).length - existing
      const acknowledged = (await program.ended) === 0
      if (acknowledged) assert.equal(found, count)
      else assert.ok(found === 0 || found === count, `${found} of ${count} records`)
    }
    assert.match(await run(['import', 'fiat-accounts', path, '--json']), /"records":3000/)
    assert.equal((await exported()).length, existing + count)
  })

  test('of server and import right after the import has finished loses no record', async () => {
    const { program, url } = await serve()
    const token = await fetchToken(url)
    const reader = readUntilKilled(url, token)
    const quotes = Array.from({ length: 500 }, (_, at) =>
      JSON.stringify(anIssuerQuote({ id: idOf(900_000 + at), ref_id: `quote-${at}` })),
    )
    const importing = start(['import', 'issuer-quote-executions', '-', '--json'], quotes.join('\n'))
    await importing.firstLine
    await Promise.all([importing.kill('SIGKILL'), program.kill('SIGKILL')])
    await reader
    await assertIntegrity()
    const stored = await exported('issuer-quote-executions')
    assert.deepEqual(
      stored.map((line) => JSON.parse(line).id).toSorted(),
      quotes.map((line) => JSON.parse(line).id).toSorted(),
    )
  })

  test('of the first start leaves a store that the next start opens', async () => {
    // Moments of the kill. What is promised holds for each of them.
    const delays = isLong ? [20, 40, 60, 80, 100, 150, 200, 250, 300] : [120, 240]
    await Promise.all(delays.map(killFirstStart))
  })
})

async function killFirstStart(delayMs: number): Promise<void> {
  const fresh = mkdtempSync(join(tmpdir(), 'bursar-first-'))
  const database = { ...env, DATABASE_URL: `sqlite:${join(fresh, 'first.db')}`, PORT: '0' }
  const startFresh = () => {
    const program = startProgram(['serve', '--json'], { env: database })
    running.add(program)
    return program
  }
  try {
    const first = startFresh()
    await passing(delayMs)
    await first.kill('SIGKILL')
    const second = startFresh()
    const { url } = JSON.parse(await second.firstLine)
    assert.equal((await rawRequest(url, '/readyz')).status, 200)
    await second.kill('SIGKILL')
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { isLong } from '../support/long.ts'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'
import { embedded, type Place, postgres } from './support/places.ts'

/**
 * Imports, single records, streams and refused lines are stored, and programs are killed while they
 * store them. Then every file that any of them has left is searched for the account numbers.
 */

const RECORDS = isLong ? 10_000 : 2000
const PUTS = 100

/** Each number begins with these digits, which lists do not show, and which nothing else has. */
const MARK = '7731905284'
/** What is stored in clear shows that the search finds what is there. */
const CLEAR_MARK = 'clear-5526'
const numberOf = (at: number): string => `${MARK}${String(at).padStart(6, '0')}`

const accountOf = (at: number, over: Parameters<typeof aFiatAccount>[0] = {}) =>
  aFiatAccount({
    id: anId(at),
    ref_id: `${CLEAR_MARK}-${at}`,
    customer_id: `customer-${at % 50}`,
    fiat_network_instructions: { scb: { account_number: numberOf(at) } },
    ...over,
  })

const linesOf = (from: number, count: number, over?: Parameters<typeof aFiatAccount>[0]): string =>
  Array.from({ length: count }, (_, at) => `${JSON.stringify(accountOf(from + at, over))}\n`).join(
    '',
  )

const scopes = 'ingest:write_fiat_accounts'

for (const [engine, open] of [
  ['the embedded store', embedded],
  ['PostgreSQL', postgres],
] as const) {
  describe(engine, () => {
    test('has no account number in any file', async () => {
      const place = await open()
      const waiting = mkdtempSync(join(tmpdir(), 'bursar-waiting-'))
      try {
        const { numbers, clear } = await storeAndSearch(place, waiting)
        assert.deepEqual([...numbers], [])
        assert.ok(clear.size > 0, 'the search finds what is not sealed')
      } finally {
        await place.remove()
        rmSync(waiting, { recursive: true, force: true })
      }
    })
  })
}

/** The files that have an account number, or a reference, at some moment or in the end. */
async function storeAndSearch(place: Place, waiting: string) {
  const env = {
    ...place.env,
    BURSAR_SPOOL_FOLDER: join(waiting, 'spool'),
    TMPDIR: waiting,
    SQLITE_TMPDIR: waiting,
  }
  const folders = [waiting, await dataFolderOf(place)]
  const [numbers, clear] = [new Set<string>(), new Set<string>()]
  const search = () => {
    for (const file of folders.flatMap(filesIn)) {
      const bytes = bytesOf(file)
      if (bytes?.includes(MARK) === true) numbers.add(file)
      if (bytes?.includes(CLEAR_MARK) === true) clear.add(file)
    }
  }
  const run = async (words: readonly string[], stdin?: string, code = 0) => {
    const ran = await runProgram(words, { env, ...(stdin !== undefined && { stdin }) })
    assert.equal(ran.code, code, `${words.join(' ')}: ${ran.errors}`)
    return ran.output
  }
  const importing = ['import', 'fiat-accounts', '-', '--allow-older']
  if (place.superuserUrl === undefined) await run(['migrate'])
  await run(importing, linesOf(1, RECORDS))
  await run(importing, linesOf(1, RECORDS / 4, { status: 'APPROVED' }))
  // The same number under an id of somebody else is left out, and written nowhere in the store.
  const refused = linesOf(1, 20, { customer_id: 'somebody' })
  await run([...importing, '--on-error', 'skip', '--rejects', '/dev/null'], refused, 1)
  // Moments of the kill. No file may have a number at any of them.
  for (const [at, ms] of [400, 700, 1000].entries()) {
    const program = startProgram(importing, { env, stdin: linesOf(20_000, RECORDS) })
    await passing(ms)
    program.process.kill('SIGSTOP')
    if (at === 1) search()
    await program.kill('SIGKILL')
  }
  const made = JSON.parse(
    await run(['client', 'create', '--operator', '--name', 'core', '--scope', scopes, '--json']),
  )
  for (const isKilled of [true, false]) {
    const server = startProgram(['serve', '--port', '0', '--json'], { env })
    const { url } = JSON.parse(await server.firstLine)
    try {
      await write(url, made, server, isKilled ? env.BURSAR_SPOOL_FOLDER : undefined)
      search()
      await server.kill(isKilled ? 'SIGKILL' : 'SIGTERM')
    } finally {
      // A server that is left behind would keep the test's process from ending.
      await server.kill('SIGKILL')
    }
  }
  if (place.engine === 'sqlite') {
    await run(['backup', join(waiting, 'backup.tar'), '--json'])
    await run(['backup', join(waiting, 'second.tar'), '--json'])
  } else await place.ask('checkpoint')
  search()
  const listed = await run(['export', 'fiat-accounts', '--customer', 'customer-1'])
  assert.ok(listed.includes(numberOf(1)))
  return { numbers, clear }
}

/**
 * Sends single records and a stream. With the folder of its spools, the server is killed once it
 * has begun to receive the stream.
 */
async function write(
  url: string,
  made: { readonly client_id: string; readonly client_secret: string },
  server: Program,
  spools: string | undefined,
): Promise<void> {
  const { client_id, client_secret } = made
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id,
    client_secret,
  })
  const granted = await fetch(`${url}/oauth2/token`, { method: 'POST', body: form })
  const { access_token: token } = (await granted.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${token}` }
  const send = async (method: string, path: string, body: string) => {
    const answer = await fetch(`${url}/ingest/v1/fiat-accounts${path}`, { method, headers, body })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${await answer.text()}`)
  }
  for (let at = 0; at < PUTS; at += 1) {
    const { id, ...account } = accountOf(50_000 + at)
    await send('PUT', `/${id}`, JSON.stringify(account))
  }
  const spooled = () => (spools !== undefined && existsSync(spools) ? filesIn(spools).length : 0)
  const before = spooled()
  const stream = send('POST', '', linesOf(60_000, RECORDS / 2))
  if (spools === undefined) return await stream
  let hasEnded = false
  const ended = stream
    .catch(() => {})
    .finally(() => {
      hasEnded = true
    })
  // A fast machine may have stored the stream before anyone looks.
  await untilHolds('the stream is received', () => hasEnded || spooled() > before)
  await server.kill('SIGKILL')
  await ended
}

async function dataFolderOf({ env, superuserUrl, ask }: Place): Promise<string> {
  if (superuserUrl === undefined) return dirname(String(env.DATABASE_URL).replace('sqlite:', ''))
  const [row] = await ask(`select current_setting('data_directory')`)
  return String(row?.[0])
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

/** A file may go while it is searched. The key of the store is beside it, and is no part of it. */
function bytesOf(file: string): Buffer | undefined {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return undefined
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

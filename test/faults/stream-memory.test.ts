import '@bursar/intake'
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { createGzip } from 'node:zlib'
import { limitNamed } from '@bursar/base'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { anId, someDepositInstructions } from '../support/records.ts'
import { until, untilHolds } from '../support/until.ts'
import { writersOf } from '../support/writer-processes.ts'
import { usageOf } from './support/soak-server.ts'

/** What a server and the process that stores a stream keep in memory of one that is not stored. */

const MIB = 1024 * 1024
/** So small that a body past it is soon sent, and so large that a process that keeps it shows. */
const STREAM_MIB = 192
/** What the buffers on the way and what the collector leaves may take, beside an idle process. */
const GROWTH_MIB = 160
const limitsUrl = new URL('../../packages/base/src/declare-limits.ts', import.meta.url).href
const preload = `
  import { setLimit } from '${limitsUrl}'
  setLimit('streamBytesMax', ${STREAM_MIB * MIB})`

const folder = mkdtempSync(join(tmpdir(), 'bursar-stream-memory-'))
const spool = join(folder, 'spool')
const env = {
  DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}`,
  BURSAR_SPOOL_FOLDER: spool,
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}`,
  PORT: '0',
  LOG_LEVEL: 'error',
}

let server: Program
let url: string
let headers: { readonly authorization: string }

before(async () => {
  const scopes = ['write_fiat_deposit_instructions', 'read_record', 'read_imports', 'cancel_import']
  const scope = scopes.map((name) => `ingest:${name}`).join(' ')
  const words = ['client', 'create', '--operator', '--name', 'core', '--scope', scope, '--json']
  const made = await runProgram(words, { env })
  assert.equal(made.code, 0, made.errors)
  const { client_id, client_secret } = JSON.parse(made.output)
  server = startProgram(['serve', '--json'], { env })
  url = JSON.parse(await server.firstLine).url
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const granted = await fetch(`${url}/oauth2/token`, { method: 'POST', body: form })
  const { access_token: token } = (await granted.json()) as { access_token: string }
  headers = { authorization: `Bearer ${token}` }
  assert.equal(await statusOf(post(lines(1))), 200)
})
after(async () => {
  await server?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Lines of records with long members, up to so many bytes. The first record has the id 10. */
function* lines(bytes: number): Generator<string> {
  const notes = Array.from({ length: 40 }, (_, key) => [`note ${key}`, 'n'.repeat(500)] as const)
  const metadata = Object.fromEntries(notes)
  for (let [at, sent] = [10, 0]; sent < bytes; at += 1) {
    const record = { id: anId(at), memo_id: `MEMO${String(at).padStart(12, '0')}`, metadata }
    const line = `${JSON.stringify(someDepositInstructions(record))}\n`
    sent += line.length
    yield line
  }
}

const post = (body: Iterable<string>, isGzip = false) => {
  const sent = request(`${url}/ingest/v1/fiat-deposit-instructions`, {
    method: 'POST',
    headers: { ...headers, ...(isGzip && { 'content-encoding': 'gzip' }) },
  })
  const readable = Readable.from(body)
  // A refused stream may end before all of it is sent.
  sent.on('error', () => readable.destroy())
  if (isGzip) readable.pipe(createGzip({ level: 1 })).pipe(sent)
  else readable.pipe(sent)
  return sent
}

const statusOf = (sent: ReturnType<typeof post>) =>
  new Promise<number | undefined>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', (answer) => resolve(answer.resume().statusCode))
  })

const isStored = async (at: number): Promise<boolean> => {
  const found = await fetch(`${url}/ingest/v1/fiat-deposit-instructions/${anId(at)}`, { headers })
  await found.text()
  return found.status === 200
}

const pid = (): number => server.process.pid ?? 0
const residentMiB = (process: number): number => usageOf(process)?.residentMiB ?? 0

/** Runs work. Returns what memory the server gained, and a process of a stream had, at most. */
async function watching(work: () => Promise<void>) {
  const before = residentMiB(pid())
  const most = { server: 0, writer: 0 }
  let isOver = false
  const looking = until(() => {
    most.server = Math.max(most.server, residentMiB(pid()) - before)
    most.writer = Math.max(most.writer, ...writersOf(pid()).map(residentMiB))
    return isOver
  }, 600_000)
  try {
    await work()
  } finally {
    isOver = true
    await looking
  }
  return most
}

/** The newest import, once it is in a state. */
async function importIn(state: string): Promise<string> {
  let id = ''
  await untilHolds(`an import is in state ${state}`, async () => {
    const answer = await fetch(`${url}/ingest/v1/imports?limit=1`, { headers })
    const [newest] = ((await answer.json()) as { imports: { id: string; state: string }[] }).imports
    id = newest?.id ?? ''
    return newest?.state === state
  })
  return id
}

describe('a large stream that is not stored', () => {
  const streams: Readonly<Record<string, () => Promise<void>>> = {
    'because it is too large': async () => {
      assert.equal(await statusOf(post(lines((STREAM_MIB + 64) * MIB))), 413)
    },
    'because its content is too large': async () => {
      assert.equal(await statusOf(post(lines((STREAM_MIB + 8) * MIB), true)), 400)
    },
    'because it is cancelled': async () => {
      const pending = statusOf(post(lines((STREAM_MIB - 8) * MIB)))
      const id = await importIn('running')
      const cancelled = await fetch(`${url}/ingest/v1/imports/${id}`, { method: 'DELETE', headers })
      assert.equal(cancelled.status, 202)
      assert.equal(await pending, 409)
    },
    'because its client has left': async () => {
      const sent = post(lines((STREAM_MIB - 8) * MIB))
      sent.on('error', () => {})
      await importIn('running')
      sent.destroy()
      await importIn('refused')
    },
  }
  for (const [cause, send] of Object.entries(streams)) {
    test(`${cause} leaves nothing, and its bytes are in no memory`, async (t) => {
      const most = await watching(send)
      t.diagnostic(JSON.stringify(most))
      await untilHolds('its file is removed', () => readdirSync(spool).length === 0)
      assert.deepEqual([await isStored(10), await isStored(11)], [true, false])
      assert.ok(most.server < GROWTH_MIB, `the server gained ${most.server} MiB`)
      assert.ok(
        most.writer < limitNamed('writerMemoryMegabytes'),
        `the process had ${most.writer} MiB`,
      )
      assert.equal((await fetch(`${url}/readyz`)).status, 200)
      assert.equal(server.process.exitCode, null)
    })
  }
})

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, describe, test } from 'node:test'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'
import { isRunning, writersOf } from '../support/writer-processes.ts'

/** What becomes of a stream, and of the process that stores it, when the server ends. */

const folder = mkdtempSync(join(tmpdir(), 'bursar-stream-writer-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const env = {
  DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}`,
  BURSAR_SPOOL_FOLDER: join(folder, 'spool'),
  PORT: '0',
  LOG_LEVEL: 'error',
}
const RECORDS = 30_000
/** So few that a busy machine stores them within the time that a stop gives. */
const FEW = 1000

const running = new Set<Program>()
afterEach(async () => {
  await Promise.all([...running].map((program) => program.kill('SIGKILL')))
  running.clear()
})

async function made(): Promise<{ client_id: string; client_secret: string }> {
  const scope = 'ingest:write_fiat_accounts ingest:read_record'
  const words = ['client', 'create', '--operator', '--name', 'core', '--scope', scope, '--json']
  const { code, output, errors } = await runProgram(words, { env })
  assert.equal(code, 0, errors)
  return JSON.parse(output)
}

async function serve(client: { client_id: string; client_secret: string }) {
  const program = startProgram(['serve', '--json'], { env })
  running.add(program)
  const { url } = JSON.parse(await program.firstLine)
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...client })
  const answer = await fetch(`${url}/oauth2/token`, { method: 'POST', body: form })
  const { access_token: token } = (await answer.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${token}` }
  const pid = program.process.pid ?? 0
  return {
    program,
    writers: () => writersOf(pid),
    /** The status of the answer, or that there is none. */
    post: async (first: number, count = RECORDS): Promise<number | 'none'> => {
      const body = Array.from({ length: count }, (_, at) =>
        JSON.stringify(aFiatAccount({ id: anId(first + at), ref_id: `ref ${first + at}` })),
      ).join('\n')

      const sent = fetch(`${url}/ingest/v1/fiat-accounts`, { method: 'POST', body, headers })
      return await sent.then(
        ({ status }) => status,
        () => 'none' as const,
      )
    },
    isStored: async (id: number): Promise<boolean> => {
      const found = await fetch(`${url}/ingest/v1/fiat-accounts/${anId(id)}`, { headers })
      await found.text()
      return found.status === 200
    },
  }
}

const spooled = (): readonly string[] =>
  readdirSync(env.BURSAR_SPOOL_FOLDER, { withFileTypes: true }).map(({ name }) => name)

describe('a server that stores a stream', () => {
  test('and is killed leaves no process, and its file goes at the next start', async () => {
    const client = await made()
    const killed = await serve(client)
    const pending = killed.post(1)
    await untilHolds('a process stores the stream', () => killed.writers().length === 1)
    const [pid = 0] = killed.writers()
    await killed.program.kill('SIGKILL')
    assert.equal(await pending, 'none')
    await untilHolds('the process has ended too', () => !isRunning(pid))
    assert.equal(spooled().length, 1)
    const next = await serve(client)
    assert.deepEqual(spooled(), [])
    assert.deepEqual([await next.isStored(1), await next.isStored(RECORDS)], [false, false])
    assert.equal(await next.post(1), 200)
  })

  test('answers it before it ends, and leaves no process', async () => {
    const client = await made()
    const server = await serve(client)
    assert.equal(await server.post(100_000, 1), 200)
    const [pid = 0] = server.writers()
    // The process is stopped, so that the stream is not stored before the signal.
    process.kill(pid, 'SIGSTOP')
    const pending = server.post(100_000, FEW)
    await untilHolds('the stream has come', () => spooled().length === 1)
    const ended = server.program.kill('SIGTERM')
    process.kill(pid, 'SIGCONT')
    assert.deepEqual([await pending, await ended], [200, 0])
    assert.deepEqual([isRunning(pid), spooled()], [false, []])
    assert.equal(await (await serve(client)).isStored(100_000 + FEW - 1), true)
  })

  test('ends at a signal to the group, as one from a terminal is', async () => {
    const client = await made()
    const server = await serve(client)
    assert.equal(await server.post(200_000, 1), 200)
    const [pid = 0] = server.writers()
    process.kill(pid, 'SIGSTOP')
    const pending = server.post(200_000, FEW)
    await untilHolds('the stream has come', () => spooled().length === 1)
    for (const signalled of [pid, server.program.process.pid ?? 0]) {
      process.kill(signalled, 'SIGINT')
    }
    process.kill(pid, 'SIGCONT')
    assert.deepEqual([await pending, await server.program.ended], [200, 0])
    assert.equal(isRunning(pid), false)
  })
})

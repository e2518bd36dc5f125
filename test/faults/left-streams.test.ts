import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'

/** Clients that leave at any moment of their streams, many at a time, end no process. */

const folder = mkdtempSync(join(tmpdir(), 'bursar-left-streams-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const spool = join(folder, 'spool')
const env = {
  DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}`,
  BURSAR_SPOOL_FOLDER: spool,
  PORT: '0',
  LOG_LEVEL: 'error',
}
const STREAMS = 5000
const AT_ONCE = 8

test('5,000 streams whose clients leave at random moments', async (t) => {
  const words = ['client', 'create', '--operator', '--name', 'core', '--json']
  const made = await runProgram([...words, '--scope', 'ingest:write_fiat_accounts'], { env })
  assert.equal(made.code, 0, made.errors)
  const { client_id, client_secret } = JSON.parse(made.output)
  const program = startProgram(['serve', '--json'], { env })
  t.after(() => program.kill('SIGKILL'))
  const { url } = JSON.parse(await program.firstLine)
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const granted = await fetch(`${url}/oauth2/token`, { method: 'POST', body: form })
  const { access_token: token } = (await granted.json()) as { access_token: string }
  const lines = Array.from({ length: 200 }, (_, at) => {
    return `${JSON.stringify(aFiatAccount({ id: anId(at), ref_id: `ref ${at}` }))}\n`
  })
  const post = () =>
    request(`${url}/ingest/v1/fiat-accounts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    })
  const statuses = new Map<string, number>()
  const note = (status: string) => statuses.set(status, (statuses.get(status) ?? 0) + 1)
  /** Sends a part of the records or all of them, and leaves before, while or after it stores. */
  const leave = async () => {
    const stream = post().on('error', () => note('none'))
    stream.on('response', (answer) => {
      note(String(answer.statusCode))
      answer.resume()
    })
    const sent = Math.floor(Math.random() * (lines.length + 1))
    stream.write(lines.slice(0, sent).join(''))
    if (Math.random() < 0.7) stream.end()
    await passing(Math.random() * 60)
    stream.destroy()
  }
  let left = STREAMS
  const leaveOften = async () => {
    for (; left > 0 && program.process.exitCode === null; left -= 1) await leave()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, leaveOften))
  t.diagnostic(JSON.stringify(Object.fromEntries(statuses)))
  assert.deepEqual([program.process.exitCode, program.process.signalCode], [null, null])
  const stream = post()
  stream.end(lines.join(''))
  const status = await new Promise((resolve, reject) => {
    stream.on('error', reject).on('response', (answer) => resolve(answer.resume().statusCode))
  })
  assert.equal(status, 200)
  assert.equal(program.errors(), '')
  await untilHolds('the spool is empty', () => readdirSync(spool).length === 0)
  assert.equal(await program.kill(), 0)
})

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { temporaryFolder } from '../support/harness.ts'
import { main, runProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'

const RECORDS = 8000
const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

test('an export whose reader stalls keeps nobody from emptying the log, and is whole', async (t) => {
  const path = join(folder, 'bursar.db')
  const spools = join(folder, 'spools')
  const env = { DATABASE_URL: `sqlite:${path}`, BURSAR_SPOOL_FOLDER: spools }
  const lines = (status: string) =>
    Array.from(
      { length: RECORDS },
      (_, at) => `${JSON.stringify(aFiatAccount({ id: anId(at), ref_id: `r${at}`, status }))}\n`,
    ).join('')
  const importing = async (status: string) => {
    const file = join(folder, `${status}.ndjson`)
    writeFileSync(file, lines(status))
    const imported = await runProgram(['import', 'fiat-accounts', file], { env })
    assert.equal(imported.code, 0, imported.errors)
  }
  await importing('PENDING')
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, [main, 'export', 'fiat-accounts'], {
    env: { ...process.env, ...env, LOG_LEVEL: 'silent' },
    stdio: [...stdio],
  })
  const ended = once(child, 'close')
  t.after(() => child.kill('SIGKILL'))
  assert.ok(child.stdout !== null)
  // The pipe is full from here on, because nobody takes anything out of it.
  await once(child.stdout, 'readable')
  await importing('APPROVED')
  using db = new DatabaseSync(path)
  const isEmptied = () => db.prepare('pragma wal_checkpoint(truncate)').get()?.busy === 0
  await untilHolds('the log can be emptied', async () => isEmptied())
  assert.equal(child.exitCode, null)
  const exported = await text(child.stdout)
  assert.deepEqual(await ended, [0, null])
  assert.deepEqual(readdirSync(spools), [])
  // Every record is there as it was when the export began, and import takes them all.
  const file = join(folder, 'exported.ndjson')
  writeFileSync(file, exported)
  const copy = { ...env, DATABASE_URL: `sqlite:${join(folder, 'copy.db')}` }
  const { output, errors } = await runProgram(['import', 'fiat-accounts', file, '--json'], {
    env: copy,
  })
  assert.equal(JSON.parse(output).added, RECORDS, errors)
  assert.ok(!exported.includes('"status":"APPROVED"'))
})

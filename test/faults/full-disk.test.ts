import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, test } from 'node:test'
import { systemTime } from '@bursar/base'
import { hasAbandonedLog } from '../../packages/sqlite/src/files/write-ahead-log.ts'
import { openThreadWriter } from '../../packages/sqlite/src/thread/file-writer.ts'
import { temporaryFolder } from '../support/harness.ts'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'

/** Imports into the embedded store that fill the disk, or would. */

const folder = temporaryFolder()
const records = join(folder, 'bursar.db')
const env = { DATABASE_URL: `sqlite:${records}`, PORT: '0', LOG_LEVEL: 'warn' }
const kind = 'fiat-accounts'
const running = new Set<Program>()

afterEach(async () => {
  await Promise.all([...running].map((program) => program.kill('SIGKILL')))
  running.clear()
})
after(() => rmSync(folder, { recursive: true, force: true }))

async function serve(): Promise<void> {
  const program = startProgram(['serve', '--json'], { env })
  running.add(program)
  await program.firstLine
}

const logBytes = () => statSync(`${records}-wal`, { throwIfNoEntry: false })?.size ?? 0

test('a file that cannot fit is refused before it is read, with both figures', async () => {
  const path = join(folder, 'sparse.ndjson')
  writeFileSync(path, '')
  truncateSync(path, 10 * 1024 ** 4)
  const { code, errors } = await runProgram(['import', kind, path], { env })
  assert.equal(code, 1)
  assert.match(
    errors,
    /^the import needs about 27487\.8 GB of free disk space in .*, which has \d+\.\d [GM]B; .*\n$/,
  )
})

test('a merge that the disk refuses changes nothing and gives its space back', {
  skip: process.platform !== 'linux',
}, async (t) => {
  await serve()
  const path = join(folder, 'many.ndjson')
  const lines = Array.from({ length: 24_000 }, (_, at) =>
    JSON.stringify(aFiatAccount({ id: anId(at), ref_id: `ref-${at}` })),
  )
  writeFileSync(path, lines.join('\n'))
  const importing = startProgram(['import', kind, path], { env })
  running.add(importing)
  await untilHolds('the merge has begun', () => logBytes() > 1_000_000, 150_000)
  // From now on no file of the import may grow past 8 MB, as if the disk were full.
  execFileSync('prlimit', ['--pid', String(importing.process.pid), '--fsize=8000000'])
  assert.equal(await importing.ended, 1)
  t.diagnostic(importing.errors())
  assert.match(
    importing.errors(),
    /^the records could not be stored: .*; nothing was changed; check /m,
  )
  // What is left is the row that says that it was refused.
  assert.ok(logBytes() < 100_000, String(logBytes()))
  const exported = await runProgram(['export', kind], { env })
  assert.deepEqual([exported.code, exported.output], [0, ''])
})

test('the log of a killed import is given back by a server', async () => {
  await serve()
  const killed = new DatabaseSync(records)
  killed.exec('begin immediate; create table filler (content blob)')
  const fill = killed.prepare('insert into filler values (zeroblob(8000000))')
  for (let megabytes = 0; megabytes < 80; megabytes += 8) fill.run()
  killed.exec('rollback')
  killed.close()
  assert.ok(logBytes() > 64 * 1024 * 1024, `${logBytes()}`)
  const server = new DatabaseSync(records)
  assert.equal(hasAbandonedLog(server, records), true)
  const writer = openThreadWriter(records, { clock: systemTime.now })
  await writer.emptyLog()
  assert.equal(logBytes(), 0)
  await writer.close()
  server.close()
})

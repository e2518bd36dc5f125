import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/harness.ts'
import { longTest } from '../support/long.ts'
import { aFiatAccount } from '../support/records.ts'

const RECORDS = 1_000_000
const RESIDENT_KB_MAX = 300 * 1024

longTest('a million records are imported within 300 MB of resident memory', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'accounts.ndjson')
  await writeRecords(file, accountLine)
  const { code, residentKb } = await importWith(folder, [file])
  rmSync(folder, { recursive: true, force: true })
  assert.equal(code, 0)
  assert.ok(residentKb > 0 && residentKb < RESIDENT_KB_MAX, `${residentKb} kB`)
})

longTest(
  'a million records with 1 % bad lines: exactly those are rejected, in 300 MB',
  async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'accounts.ndjson')
    const bad: string[] = []
    await writeRecords(file, (at) => {
      const line = at % 100 === 7 ? badLine(at) : accountLine(at)
      if (at % 100 === 7) bad.push(line)
      return line
    })
    const { code, residentKb } = await importWith(folder, [file, '--on-error', 'skip'])
    const rejected = readFileSync(`${file}.rejects.ndjson`, 'utf8').trimEnd().split('\n')
    rmSync(folder, { recursive: true, force: true })
    assert.equal(code, 3)
    const lines = rejected.filter((line) => !line.startsWith('#~ '))
    assert.deepEqual(lines.toSorted(), bad.toSorted())
    assert.ok(residentKb > 0 && residentKb < RESIDENT_KB_MAX, `${residentKb} kB`)
  },
)

/** Half of them are bad in form, and half repeat an id with other content. */
function badLine(at: number): string {
  return at % 200 === 7
    ? accountLine(at).replace('PENDING', 'ODD')
    : accountLine(at - 1).replace('PENDING', 'REJECTED')
}

async function importWith(folder: string, options: readonly string[]) {
  const words = ['packages/cli/src/main.ts', 'import', 'fiat-accounts', ...options]
  const child = spawn(process.execPath, words, {
    env: { ...process.env, DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}` },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  // The kernel's high-water mark of memory. It only increases.
  let residentKb = 0
  const watch = setInterval(() => {
    residentKb = Math.max(residentKb, highWaterMark(child.pid))
  }, 100)
  const [code] = await once(child, 'exit')
  clearInterval(watch)
  return { code, residentKb }
}

function accountLine(at: number): string {
  const spread = ((at * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')
  return JSON.stringify(
    aFiatAccount({
      id: `${spread}-0000-4000-8000-${String(at).padStart(12, '0')}`,
      customer_id: `customer-${at % 50}`,
      ref_id: `ref-${at}`,
      created_at: new Date(1_700_000_000_000 + at * 1000).toISOString(),
    }),
  )
}

async function writeRecords(file: string, lineOf: (at: number) => string): Promise<void> {
  const out = createWriteStream(file)
  for (let at = 0; at < RECORDS; at += 1) {
    if (!out.write(`${lineOf(at)}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
}

function highWaterMark(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0)
  } catch {
    return 0
  }
}

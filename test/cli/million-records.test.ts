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
  await writeRecords(file)
  const words = ['src/main.ts', 'import', 'fiat-accounts', file]
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
  rmSync(folder, { recursive: true, force: true })
  assert.equal(code, 0)
  assert.ok(residentKb > 0 && residentKb < RESIDENT_KB_MAX, `${residentKb} kB`)
})

async function writeRecords(file: string): Promise<void> {
  const out = createWriteStream(file)
  for (let at = 0; at < RECORDS; at += 1) {
    const spread = ((at * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')
    const record = aFiatAccount({
      id: `${spread}-0000-4000-8000-${String(at).padStart(12, '0')}`,
      customer_id: `customer-${at % 50}`,
      ref_id: `ref-${at}`,
      created_at: new Date(1_700_000_000_000 + at * 1000).toISOString(),
    })
    if (!out.write(`${JSON.stringify(record)}\n`)) await once(out, 'drain')
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

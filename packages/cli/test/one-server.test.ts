import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'

const words = ['serve', '--create', '--port', '0']

function newPlace() {
  const folder = temporaryFolder()
  const file = join(folder, 'bursar.config.json')
  writeFileSync(file, JSON.stringify({ workers: 2 }), { mode: 0o600 })
  return { file, path: join(folder, 'bursar.db'), url: `sqlite:${join(folder, 'bursar.db')}` }
}

test('serve refuses workers on an embedded store by flag, variable and file, and makes no store', async () => {
  const { file, path, url } = newPlace()
  const refusals = [
    await runBursar(url, [...words, '--workers', '2']),
    await runBursar(url, words, '', { BURSAR_WORKERS: '2' }),
    await runBursar(url, [...words, '--config', file]),
    await runBursar('', [...words, '--workers', '2', '--database', url]),
  ]
  const err =
    '2 workers need PostgreSQL, because one process serves an embedded store. Set workers (--workers, BURSAR_WORKERS) to 1, or DATABASE_URL to a PostgreSQL database (docs/scaling.md).\n'
  for (const refusal of refusals) assert.deepEqual(refusal, { code: 2, out: '', err })
  assert.equal(existsSync(path), false)
})

test('doctor finds workers on an embedded store; other commands take no notice of them', async () => {
  const { url } = newPlace()
  const env = { BURSAR_WORKERS: '2' }
  assert.equal((await runBursar(url, ['migrate'], '', env)).code, 0)
  const { out } = await runBursar(url, ['doctor', '--json'], '', env)
  const { checks } = JSON.parse(out) as {
    checks: { name: string; findings?: { what: string }[] }[]
  }
  const found = checks.find(({ name }) => name === 'workers')?.findings?.map(({ what }) => what)
  assert.deepEqual(found, ['2 workers are configured on an embedded store'])
})

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { temporaryFolder } from '../support/harness.ts'

/** Runs commands that may open few files. */

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))
const env = {
  ...process.env,
  LOG_LEVEL: 'warn',
  DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}`,
}
const sentence =
  'this process may open no more files or connections; raise its limit (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile of a container)\n'

/** Node itself needs more descriptors than this, and fails in other ways with fewer. */
const NODE_NEEDS = 22
/** Enough for each command, and for the thread that checks tables. */
const ENOUGH = 60

for (const words of [
  'client list',
  'import fiat-accounts examples/records/fiat-accounts.ndjson',
  'migrate --check',
]) {
  test(`${words} says that it may open too few files, or succeeds`, () => {
    execFileSync(process.execPath, ['packages/cli/src/main.ts', 'migrate'], { env })
    let refusals = 0
    for (let limit = NODE_NEEDS; limit <= ENOUGH; limit += 1) {
      const script = `ulimit -n ${limit}; exec "${process.execPath}" packages/cli/src/main.ts ${words}`
      const ran = spawnSync('bash', ['-c', script], { env, encoding: 'utf8' })
      if (ran.status === 0) break
      assert.deepEqual([ran.status, ran.stderr], [1, sentence], `with ${limit} descriptors`)
      refusals += 1
    }
    assert.ok(refusals > 0 && refusals < ENOUGH - NODE_NEEDS, `${refusals} refusals`)
  })
}

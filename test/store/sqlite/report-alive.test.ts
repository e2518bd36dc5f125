import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openBackground } from '../../../src/background.ts'
import { openLog } from '../../../src/platform/log.ts'
import { systemTime } from '../../../src/platform/time.ts'
import { openSqliteImports } from '../../../src/store/sqlite/open-sqlite-imports.ts'
import { temporaryFolder } from '../../support/harness.ts'

test('an import is seen to run while its merge keeps the process busy', async (t) => {
  const path = join(temporaryFolder(), 'busy.credentials.db')
  const registry = openSqliteImports(path, {
    clock: systemTime.now,
    background: openBackground(),
    log: openLog('silent'),
    mergesHere: true,
  })
  t.after(registry.close)
  const running = registry.begin({
    kind: 'statements',
    importer: { clientId: 'core' },
    boundTo: undefined,
    isDryRun: false,
  })
  await registry.written()
  using db = new DatabaseSync(path, { timeout: 1000 })
  const read = db.prepare('select updated_at, ended_at from import_registry')
  read.setReadBigInts(true)
  const before = read.get()?.updated_at
  // The event loop does not turn, as in a statement of SQLite.
  for (let looks = 0; read.get()?.updated_at === before && looks < 3000; looks += 1) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  }
  assert.notEqual(read.get()?.updated_at, before)
  running.end({ state: 'failed', reason: 'over' })
  await registry.written()
  assert.notEqual(read.get()?.ended_at, null)
})

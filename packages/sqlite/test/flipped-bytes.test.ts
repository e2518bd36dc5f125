import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { systemTime } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { StoreUnavailable } from '@bursar/records'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { take } from '../../../test/support/record-store.ts'
import { anId, aStatement } from '../../../test/support/records.ts'
import { testSealing } from '../../../test/support/test-sealing.ts'
import { statement } from '../../contract/src/resources/statement.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'

const acme = asTenant('acme')
const RECORDS = 400

test('a get from a file with flipped bytes answers the record or refuses, and never other bytes', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'flipped.db')
  const ids = Array.from({ length: RECORDS }, (_, at) => anId(at + 1))
  const before = openSqliteStore(path, systemTime.now, testSealing)
  const records = ids.map((id) => aStatement({ id, customer_id: acme, ref_id: id }))
  assert.equal((await take(before, 'statements', records)).faultCount, 0)
  const whole = await Promise.all(
    ids.map((id) => before.customers.get(acme, statement.full, id, false)),
  )
  await before.close()
  emptyWal(path)
  flipBytes(path)
  const store = openSqliteStore(path, systemTime.now, testSealing)
  const outcomes = { right: 0, refused: 0, unknown: 0 }
  for (const [at, id] of ids.entries()) {
    try {
      const read = await store.customers.get(acme, statement.full, id, false)
      // A flipped key leads nowhere; the record then looks unknown, which the check reports.
      if (read === undefined) outcomes.unknown += 1
      else {
        assert.equal(read, whole[at], id)
        outcomes.right += 1
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      outcomes.refused += 1
    }
  }
  assert.ok(outcomes.refused > 0 && outcomes.right > 0, JSON.stringify(outcomes))
  assert.equal(store.damage.counts().get('statements'), 1)
  await store.close()
  rmSync(folder, { recursive: true })
})

function emptyWal(path: string): void {
  using db = new DatabaseSync(path)
  db.exec('pragma wal_checkpoint(truncate)')
}

const PAGE_BYTES = 8192
/** The first byte of a page that leads to no other page. */
const LEAF = 0x0a

/** Flips a bit of every second leaf that holds records: in its header or among its records. */
function flipBytes(path: string): void {
  const bytes = readFileSync(path)
  const starts = Array.from({ length: bytes.length / PAGE_BYTES }, (_, at) => at * PAGE_BYTES)
  const ofRecords = starts.filter(
    (at) => bytes[at] === LEAF && bytes.subarray(at, at + PAGE_BYTES).includes('"period_start"'),
  )
  const file = openSync(path, 'r+')
  for (const [count, start] of ofRecords.entries()) {
    if (count % 2 === 1) continue
    const at = start + (count % 8 === 0 ? 3 : PAGE_BYTES - 1000 + count)
    writeSync(file, Buffer.from([(bytes[at] ?? 0) ^ 0x04]), 0, 1, at)
  }
  closeSync(file)
}

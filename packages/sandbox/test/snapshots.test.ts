import assert from 'node:assert/strict'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { limitNamed, openMovableClock } from '@bursar/base'
import { acme, fetchToken, openPlace, startServiceAt } from '../../../test/support/harness.ts'
import { withdrawal } from '../../../test/support/operation-calls.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { accountIds, describeSandbox, ndjson } from '../../../test/support/sandbox-control.ts'

const accounts = '/v2/transfer/fiat-accounts'
const sandbox = describeSandbox()

const save = async () => (await sandbox.control('POST', '/sandbox/snapshots')).body.id
const restore = (id: string) => sandbox.control('POST', `/sandbox/snapshots/${id}/restore`)

describe('a snapshot', () => {
  test('restores customers, records, clients, fees, faults and the clock, more than once', async () => {
    const kept = await sandbox.customer({ seed: 'kept', records: 'sample' })
    const page = await sandbox.call(accounts, { as: kept })
    const token = await sandbox.tokenOf(kept)
    const quoted = await sandbox.call('/v2/transfer/fees/crypto-withdrawal', {
      as: kept,
      method: 'POST',
      body: JSON.stringify(withdrawal),
    })
    const fault = { customer_id: kept.customerId, kind: 'status', status: 503 }
    await sandbox.control('POST', '/sandbox/faults', fault)
    const faults = (await sandbox.control('GET', '/sandbox/faults')).body
    const id = await save()
    const tags = new Set([page.headers.get('etag')])
    for (const seed of ['later 1', 'later 2']) {
      await sandbox.control('DELETE', `/sandbox/customers/${kept.customerId}`)
      const later = await sandbox.customer({ seed })
      await sandbox.control('POST', '/sandbox/clock', { advance_seconds: 100_000 })
      await sandbox.parts.quotes.operator.clear()
      const restored = await restore(id)
      assert.deepEqual([restored.status, restored.body.id], [200, id])
      // The client of a customer from after the snapshot is gone.
      await assert.rejects(fetchToken(sandbox.url, later), /invalid_client/)
      const ofLater = `/sandbox/requests?customer_id=${later.customerId}`
      assert.equal((await sandbox.control('GET', ofLater)).status, 404)
      assert.deepEqual((await sandbox.control('GET', '/sandbox/faults')).body, faults)
      assert.equal((await sandbox.call(accounts, { token })).status, 503)
      const again = await sandbox.call(accounts, { token })
      assert.equal(again.text, page.text)
      tags.add(again.headers.get('etag'))
      assert.ok(await sandbox.parts.quotes.operator.find(quoted.body.id))
      assert.equal((await sandbox.control('GET', '/sandbox/clock')).body.is_real, true)
      assert.equal((await sandbox.call('/readyz', { as: null })).status, 200)
    }
    // An entity tag from before a restore never matches a page from after it.
    assert.equal(tags.size, 3)
  })

  test('takes no page from before a restore for one from after it', async () => {
    const as = await sandbox.customer()
    const path = `/sandbox/records/fiat-accounts?customer_id=${as.customerId}`
    const put = (id: string) =>
      sandbox.control('PUT', path, ndjson(aFiatAccount({ id, customer_id: as.customerId })))
    const snapshot = await save()
    const tags: (string | null)[] = []
    for (const id of [anId(1), anId(2), anId(1)]) {
      await put(id)
      const page = await sandbox.call(accounts, { as })
      assert.deepEqual(accountIds(page), [id])
      tags.push(page.headers.get('etag'))
      await restore(snapshot)
    }
    assert.equal(new Set(tags).size, 3)
  })

  test('is saved and restored while clients read, and no request fails', async () => {
    let isDone = false
    const token = await sandbox.tokenOf(acme)
    const reading = Array.from({ length: 8 }, async () => {
      const statuses = new Set<number>()
      while (!isDone) statuses.add((await sandbox.call(accounts, { token })).status)
      return [...statuses]
    })
    for (let round = 0; round < 5; round += 1) await restore(await save())
    isDone = true
    assert.deepEqual([...new Set((await Promise.all(reading)).flat())], [200])
  })

  test('can be restored often without filling the disk with the log', async () => {
    const id = await save()
    for (let round = 0; round < 12; round += 1) await restore(id)
    const path = sandbox.parts.config.databaseUrl.replace('sqlite:', '')
    assert.ok(statSync(`${path}-wal`).size < 40_000_000)
  })

  test('is a private file that goes with it, and there are only so many', async () => {
    const folder = dirname(sandbox.parts.config.databaseUrl.replace('sqlite:', ''))
    const files = () => readdirSync(folder).filter((name) => name.includes('snapshot'))
    const ids = []
    for (let at = files().length / 2; at < limitNamed('sandboxSnapshotsMax'); at += 1)
      ids.push(await save())
    for (const file of files()) assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600)
    const refused = await sandbox.control('POST', '/sandbox/snapshots')
    assert.deepEqual(
      [refused.status, refused.body.detail],
      [409, 'the sandbox has 20 snapshots; delete one'],
    )
    for (const id of ids) {
      assert.equal((await sandbox.control('DELETE', `/sandbox/snapshots/${id}`)).status, 204)
    }
    assert.equal(files().length, 2 * (limitNamed('sandboxSnapshotsMax') - ids.length))
    assert.equal((await restore(ids[0] ?? '')).status, 404)
    assert.equal((await restore('7')).body.detail, "id must be uuid, given '7'")
  })

  test('ends with the sandbox, and the next one deletes what a killed one has left', async () => {
    const place = await openPlace('sqlite')
    const folder = dirname(place.commandUrl.replace('sqlite:', ''))
    const files = () => readdirSync(folder).filter((name) => name.includes('.snapshot-'))
    const kept = { ...place, remove: async () => {} }
    const start = () => startServiceAt(kept, { control: openMovableClock(), store: 'sqlite' })
    const first = await start()
    await first.call('/sandbox/snapshots', { as: null, method: 'POST' })
    const left = files()
    assert.equal(left.length, 2)
    await first.stop()
    assert.deepEqual(files(), [])
    for (const file of left) writeFileSync(join(folder, file), '', { mode: 0o600 })
    const second = await start()
    assert.deepEqual(files(), [])
    await second.stop()
    await place.remove()
  })
})

test('snapshots are listed, oldest first, until they are deleted', async () => {
  const listed = async () => (await sandbox.control('GET', '/sandbox/snapshots')).body.snapshots
  for (const { id } of await listed()) await sandbox.control('DELETE', `/sandbox/snapshots/${id}`)
  const saved = []
  for (let at = 0; at < 2; at += 1) {
    saved.push((await sandbox.control('POST', '/sandbox/snapshots')).body)
  }
  assert.deepEqual(await listed(), saved)
  await sandbox.control('DELETE', `/sandbox/snapshots/${saved[0].id}`)
  assert.deepEqual(await listed(), saved.slice(1))
})

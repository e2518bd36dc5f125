import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import {
  callUrl,
  openPlace,
  startServiceAt,
  type TestService,
} from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/until.ts'

const PAGE_BYTES = 8192

/** A service over a store whose file was changed while no process had it open. */
async function startDamaged(t: TestContext, change: (path: string) => void): Promise<TestService> {
  const place = await openPlace('sqlite')
  const options = { env: { BURSAR_OPERATOR_PORT: '0' }, store: 'sqlite' } as const
  const first = await startServiceAt({ ...place, remove: async () => {} }, options)
  await first.stop()
  change(place.commandUrl.replace('sqlite:', ''))
  const service = await startServiceAt(place, options)
  t.after(service.stop)
  return service
}

/** Makes the first page of an index no page. */
function breakIndex(path: string): void {
  using db = new DatabaseSync(path)
  const name = 'statement_by_ref_id'
  const found = db.prepare('select rootpage from sqlite_schema where name = ?').get(name)
  const bytes = readFileSync(path)
  bytes[(Number(found?.rootpage) - 1) * PAGE_BYTES] = 0
  writeFileSync(path, bytes)
}

test('a store with a damaged index is stopped for all, and says what to restore', async (t) => {
  const service = await startDamaged(t, breakIndex)
  const ready = () => callUrl(`${service.operatorUrl}/readyz`, {})
  await until(async () => (await ready()).status === 503)
  const { detail, meta } = (await ready()).body
  assert.equal(detail, 'not ready: store')
  assert.match(
    meta.checks.store.reason,
    /\.db is damaged: .*; stop this server, and restore a backup with `bursar restore FILE --replace`$/,
  )
  for (const path of ['/v2/statements', '/v2/transfer/fiat-accounts', '/ingest/v1/health']) {
    assert.equal((await service.call(path, { as: null })).status, 503, path)
  }
  const token = await service.call('/oauth2/token', { as: null, method: 'POST' })
  assert.equal(token.status, 503)
})

test('a damaged record leaves the store ready, and all but itself answered', async (t) => {
  const service = await startDamaged(t, (path) => {
    using db = new DatabaseSync(path)
    db.exec('update fiat_account set checksum = checksum + 1')
  })
  const { damage } = service.parts.store
  await until(() => damage.counts().size > 0)
  const { status, body } = await callUrl(`${service.operatorUrl}/readyz`, {})
  assert.equal(status, 200)
  const { reason, damaged, ...integrity } = body.checks.integrity
  assert.equal(integrity.status, 'degraded')
  assert.equal(reason, `${damaged} records damaged`)
  assert.equal((await service.call('/v2/issuer-quotes?limit=1')).status, 200)
})

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { importEntries } from '@bursar/intake'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, borealis, fetchToken } from '../../../../test/support/harness.ts'
import { lists, pathOf } from '../../../../test/support/operation-calls.ts'
import { startProgram } from '../../../../test/support/program.ts'
import { rawRequest } from '../../../../test/support/raw-request.ts'
import { type Item, itemsOf } from '../../../../test/support/read-all-pages.ts'
import { resourceOf, rules } from '../../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'
import { storeDisabled } from '../../../../test/support/store-disabled.ts'

// The sandbox has an embedded store only. On PostgreSQL no role may delete origins and the journal.
const service = describeService({ store: 'sqlite' })

const reset = () => service.call('/sandbox/reset', { as: null, method: 'POST' })

/** The first page of every list of both customers. */
async function firstPages(): Promise<readonly (readonly Item[])[]> {
  const pages: (readonly Item[])[] = []
  for (const as of [acme, borealis]) {
    for (const list of lists) {
      const path = pathOf(list, [['include_deleted', 'true']], as.customerId)
      pages.push(itemsOf(list, await service.call(path, { as })))
    }
  }
  return pages
}

describe('POST /sandbox/reset', () => {
  test('restores the sample client, even when it was disabled', async () => {
    const { credentials, oauth } = service.parts
    await storeDisabled(credentials, acme.clientId, 1n, 1n)
    await oauth.refresh()
    await assert.rejects(fetchToken(service.url, acme))
    await reset()
    await fetchToken(service.url, acme)
  })

  test('restores the sample records after an import, and tokens stay valid', async () => {
    const before = await firstPages()
    const records = [
      aFiatAccount({ id: anId(1), created_at: '2027-01-01T00:00:00Z' }),
      aFiatAccount({
        id: '11111111-1111-4111-8111-111111111111',
        created_at: '2026-10-31T12:00:00Z',
        deleted_at: '2026-11-01T00:00:00Z',
        updated_at: '2027-01-01T00:00:00Z',
      }),
    ]
    const entries = (async function* () {
      for (const [at, value] of records.entries()) yield { line: at + 1, value }
    })()
    const origin = { file: 'a.ndjson', user: 'alice', sudoUser: undefined, sha256: async () => 'x' }
    const options = { dryRun: false, allowOlder: true, rules, origin }
    const resource = resourceOf('fiat-accounts')
    const report = await importEntries(service.parts.store, resource, entries, options)
    assert.deepEqual([report.added, report.changed, report.faults], [1, 1, []])
    assert.notDeepEqual(await firstPages(), before)
    const { imports } = service.parts.store
    await imports.begin({
      kind: 'fiat-accounts',
      importer: { clientId: 'core' },
      boundTo: undefined,
    })
    const called = await reset()
    assert.equal(called.status, 200)
    assert.equal(called.body.records['fiat-accounts'], 1246)
    const all = { state: undefined, kind: undefined, ofClientsOf: undefined, after: undefined }
    assert.deepEqual(await imports.list({ ...all, importsMax: 10 }), [])
    assert.deepEqual(await firstPages(), before)
  })

  test('can be called several times at once', async () => {
    const before = await firstPages()
    const called = await Promise.all(Array.from({ length: 4 }, reset))
    assert.deepEqual(
      called.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    assert.deepEqual(await firstPages(), before)
  })

  test('does not exist on a real server', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bursar-serve-'))
    const server = startProgram(['serve', '--port', '0', '--json'], {
      env: { DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}`, LOG_LEVEL: 'warn' },
    })
    try {
      const { url } = JSON.parse(await server.firstLine)
      const answer = await rawRequest(url, '/sandbox/reset', { method: 'POST' })
      assert.equal(answer.status, 404)
    } finally {
      await server.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

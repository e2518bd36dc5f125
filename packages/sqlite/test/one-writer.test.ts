import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { startTestService, type TestService } from '../../../test/support/harness.ts'
import { withdrawal } from '../../../test/support/operation-calls.ts'
import { operatorToken } from '../../../test/support/operator-token.ts'
import { anId, aStatement } from '../../../test/support/records.ts'

let service: TestService
before(async () => {
  service = await startTestService({ store: 'sqlite' })
})
after(() => service.stop())

const writes = /^\s*(begin immediate|insert|update|delete|replace|pragma user_version =|vacuum)/i

test('a server writes its files over the connections of threads alone', async (t) => {
  const written: string[] = []
  for (const name of ['exec', 'prepare'] as const) {
    const own = DatabaseSync.prototype[name]
    t.mock.method(DatabaseSync.prototype, name, function (this: DatabaseSync, text: string) {
      if (writes.test(text)) written.push(text)
      return own.call(this, text)
    })
  }
  const { parts } = service
  const quote = { method: 'POST', body: JSON.stringify(withdrawal) }
  const quoted = await service.call('/v2/transfer/fees/crypto-withdrawal', quote)
  assert.equal(quoted.status, 200)
  const token = await operatorToken(service, 'core', ['ingest:write_statements'])
  const put = await service.call(`/ingest/v1/statements/${anId(900)}`, {
    token,
    method: 'PUT',
    body: JSON.stringify(aStatement({ id: anId(900) })),
  })
  assert.equal(put.status, 201)
  const { imports } = parts.store
  const importer = { clientId: 'core' }
  const running = await imports.begin({ kind: 'statements', importer, boundTo: undefined })
  assert.equal((await imports.cancel(running.row.id, undefined)).outcome, 'cancelling')
  await running.fail({ state: 'cancelled', reason: 'the import was cancelled' })
  assert.equal((await imports.count()).length, 1)
  assert.equal((await service.call('/readyz', { as: null })).status, 200)
  assert.deepEqual(written, [])
})

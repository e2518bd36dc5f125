import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCaller } from '@bursar/contract'
import { describeService } from '../../../../../test/support/describe-service.ts'
import type { Document } from '../../../../../test/support/documented.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { ingestApi, openApiDocument } from '../../../src/documents/openapi.ts'

const service = describeService()

const call = (token?: string) =>
  service.call('/ingest/v1/caller', token === undefined ? { as: null } : { token })

test('200 tells a client of the operator its scopes, whichever they are', async () => {
  const cases = { exports: ['ingest:export'], payouts: ['ingest:consume_fee', 'ingest:search'] }
  for (const [id, scopes] of Object.entries(cases)) {
    const { status, body } = await call(await operatorToken(service, id, scopes))
    assert.deepEqual([status, body], [200, { scopes }])
  }
  const bound = await operatorToken(service, 'bound', ['ingest:export'], 'acme')
  assert.deepEqual((await call(bound)).body, { customer_id: 'acme', scopes: ['ingest:export'] })
})

test('403 for a client of a customer, and 401 without a token', async () => {
  const refused = await service.call('/ingest/v1/caller')
  assert.equal(refused.status, 403)
  assert.equal(refused.headers.get('www-authenticate'), 'Bearer error="insufficient_scope"')
  assert.equal(
    refused.body.detail,
    'the client belongs to a customer; only the operator may call this',
  )
  assert.equal((await call()).status, 401)
})

test('the document says that the operation needs a token and no scope', () => {
  const document = openApiDocument(
    { ...ingestApi, operations: [getCaller] },
    'https://bursar.example',
  )
  const { paths, components } = document as Document
  assert.deepEqual(paths['/ingest/v1/caller']?.get?.security, [{ oauth2: [] }])
  assert.ok('oauth2' in components.securitySchemes)
})

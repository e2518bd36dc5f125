import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeService } from '../../../../../test/support/describe-service.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { aFiatAccount, anId } from '../../../../../test/support/records.ts'
import { fixtureIds } from '../../../../sandbox/src/story.ts'

const scopes = [
  'ingest:read_record',
  'ingest:read_history',
  'ingest:export',
  'ingest:write_fiat_accounts',
] as const
let core: string
let auditor: string
let bound: string
const id = anId(4242)
const path = `/ingest/v1/fiat-accounts/${id}`

const service = describeService({}, async () => {
  core = await operatorToken(service, 'core', scopes)
  auditor = await operatorToken(service, 'auditor', ['ingest:read_audit'])
  bound = await operatorToken(service, 'branch', ['ingest:read_audit'], 'borealis')
  const body = JSON.stringify(aFiatAccount({ id, customer_id: 'newco' }))
  await service.call(path, { method: 'PUT', token: core, body })
})

const list = (query = '', token = auditor, of = path) =>
  service.call(`${of}/reads?${query}`, { token })
const see = (at: string) => service.call(at, { token: core })

describe('GET /ingest/v1/fiat-accounts/{id}/reads', () => {
  test('200 has each full view of the record, and full lists of its customer, newest first', async () => {
    assert.deepEqual((await list()).body, { reads: [] })
    const masked = await see(`${path}/history?view=customer`)
    assert.equal(masked.status, 200)
    assert.match(masked.text, /"account_number":"X+/)
    assert.equal((await see(`${path}/history?view=all`)).status, 400)
    assert.deepEqual((await list()).body, { reads: [] })
    await see(path)
    await see(`${path}/history`)
    const pages = '/ingest/v1/customers/newco/fiat-accounts'
    await see(`${pages}?view=full`)
    await see(`${pages}?view=full&purpose=export`)
    const { status, body } = await list()
    assert.equal(status, 200)
    assert.deepEqual(
      body.reads.map(({ at: _, ...read }: Record<string, unknown>) => read),
      [
        { action: 'export', shown: 'list', rows: 1, client_id: 'core' },
        { action: 'view', shown: 'list', rows: 1, client_id: 'core' },
        { action: 'view', shown: 'record', rows: 1, client_id: 'core' },
        { action: 'view', shown: 'record', client_id: 'core' },
      ],
    )
    const times = body.reads.map(({ at }: { readonly at: string }) => at)
    assert.deepEqual(times, times.toSorted().toReversed())
  })

  test('a masked page, a refused view and another record are not among them', async () => {
    const before = (await list()).body
    await see('/ingest/v1/customers/newco/fiat-accounts?purpose=export')
    await see('/ingest/v1/customers/acme/fiat-accounts?view=full')
    await see(`/ingest/v1/fiat-accounts/${fixtureIds['fiat-accounts']}`)
    assert.equal((await service.call(path, { token: auditor })).status, 403)
    assert.deepEqual((await list()).body, before)
  })

  test('pages go on after the last read, and are of the record', async () => {
    const all = (await list()).body.reads
    const found: object[] = []
    let cursor = ''
    do {
      const { body } = await list(`limit=1&page_cursor=${encodeURIComponent(cursor)}`)
      assert.equal(body.reads.length, 1)
      found.push(...body.reads)
      cursor = body.next_page_cursor ?? ''
    } while (cursor !== '')
    assert.deepEqual(found, all)
  })

  test('404 for a foreign and an unknown record, and 403 without the scope', async () => {
    for (const [of, token] of [
      [path, bound],
      [path.replace(id, anId(4243)), auditor],
      [path.replace(id, anId(4243)), bound],
    ] as const) {
      assert.equal((await list('', token, of)).status, 404, of)
    }
    const refused = await list('', core)
    assert.deepEqual(
      [refused.status, refused.headers.get('www-authenticate')],
      [403, 'Bearer error="insufficient_scope", scope="ingest:read_audit"'],
    )
  })

  test('there is none for a kind whose lists show the whole record', async () => {
    const { status } = await service.call(`/ingest/v1/statements/${anId(1)}/reads`, {
      token: auditor,
    })
    assert.equal(status, 404)
  })
})

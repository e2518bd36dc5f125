import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { recordKinds } from '@bursar/contract'
import { describeService } from '../../../../../test/support/describe-service.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { anId, aStatement } from '../../../../../test/support/records.ts'

const scopes = ['ingest:search', 'ingest:write_statements'] as const
let operator: string
let bound: string

const service = describeService({}, async () => {
  operator = await operatorToken(service, 'staff', scopes)
  bound = await operatorToken(service, 'branch', scopes, 'borealis')
  await service.parts.store.operator.customers.rename('acme', 'Great Northern Ltd')
  await service.parts.store.operator.customers.rename('borealis', 'Northern Lights')
})

const list = (query = '', token = operator) =>
  service.call(`/ingest/v1/customers?${query}`, { token })
const idsOf = async (query: string, token = operator) =>
  (await list(query, token)).body.customers.map(({ id }: { readonly id: string }) => id)

describe('GET /ingest/v1/customers', () => {
  test('200 has every customer by id, with its name, exact counts and times', async () => {
    const { status, body } = await list()
    assert.equal(status, 200)
    const [acme] = body.customers
    assert.deepEqual([acme.id, acme.name], ['acme', 'Great Northern Ltd'])
    assert.deepEqual(Object.keys(acme.counts), recordKinds)
    const shown = await service.call('/v2/transfer/deposit-addresses?limit=1000')
    assert.equal(acme.counts['deposit-addresses'], shown.body.items.length)
    assert.deepEqual(Object.keys(acme.kept_since), recordKinds)
    assert.ok(acme.changed_at >= acme.kept_since.statements)
  })

  test('a put adds to the count, and a withdrawal takes from it', async () => {
    const id = anId(77)
    const counted = async () => {
      const { body } = await list('prefix=new-one')
      return body.customers.map(({ counts, kept_since }: Record<string, object>) => [
        counts,
        Object.keys(kept_since ?? {}),
      ])
    }
    const none = Object.fromEntries(recordKinds.map((kind) => [kind, 0]))
    assert.deepEqual(await counted(), [])
    const path = `/ingest/v1/statements/${id}`
    const body = JSON.stringify(aStatement({ id, customer_id: 'new-one' }))
    assert.equal((await service.call(path, { method: 'PUT', token: operator, body })).status, 201)
    assert.deepEqual(await counted(), [[{ ...none, statements: 1 }, ['statements']]])
    assert.equal((await service.call(path, { method: 'DELETE', token: operator })).status, 204)
    assert.deepEqual(await counted(), [[none, ['statements']]])
  })

  test('pages find each customer once, by id and by a word of the name', async () => {
    const found: string[] = []
    let cursor = ''
    do {
      const { body } = await list(`prefix=NORTH&limit=1&page_cursor=${cursor}`)
      found.push(...body.customers.map(({ id }: { readonly id: string }) => id))
      cursor = body.next_page_cursor ?? ''
    } while (cursor !== '')
    assert.deepEqual(found, ['borealis', 'acme'])
    assert.deepEqual(await idsOf('prefix=none-such'), [])
  })

  test('a bound client sees its customer alone', async () => {
    assert.deepEqual(await idsOf('', bound), ['borealis'])
    assert.deepEqual(await idsOf('prefix=north', bound), ['borealis'])
    assert.deepEqual(await idsOf('prefix=ac', bound), [])
    const { body } = await list('limit=1', bound)
    assert.equal(body.next_page_cursor, undefined)
  })

  test('a cursor is of its prefix and its caller', async () => {
    const { body } = await list('limit=1')
    const cursor = `page_cursor=${encodeURIComponent(body.next_page_cursor)}`
    const asked: readonly [string, string][] = [
      [`prefix=b&${cursor}`, operator],
      [cursor, bound],
    ]
    for (const [query, token] of asked) assert.equal((await list(query, token)).status, 400, query)
  })

  test('400 for a limit of more than 100, and 403 without the scope', async () => {
    const { status, body } = await list('limit=101')
    assert.deepEqual([status, body.detail], [400, 'limit must be between 1 and 100'])
    const other = await operatorToken(service, 'other', ['ingest:read_history'])
    assert.equal((await list('', other)).status, 403)
  })

  test('no answer of /v2 has a display name', async () => {
    for (const path of ['transfer/fiat-accounts', 'transfer/deposit-addresses', 'events']) {
      const { status, text } = await service.call(`/v2/${path}`)
      assert.equal(status, 200)
      assert.doesNotMatch(text, /Great Northern/, path)
    }
  })
})

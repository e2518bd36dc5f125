import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { operatorScopes, type RecordKind } from '@bursar/contract'
import { addCustomerClient } from '../../../../test/support/customer-client.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import { type Called, fetchToken } from '../../../../test/support/harness.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { resourceOf, take } from '../../../../test/support/record-store.ts'
import {
  aDepositAddress,
  anId,
  anIssuerQuote,
  aStatement,
  someDepositInstructions,
} from '../../../../test/support/records.ts'

let token: string
let bound: string
let customer: string

const service = describeService({}, async () => {
  token = await operatorToken(service, 'core', operatorScopes)
  bound = await operatorToken(service, 'branch', operatorScopes, 'newco')
  await addCustomerClient(service, newco)
  customer = await fetchToken(service.url, newco)
})

const newco = { customerId: 'newco', clientId: 'newco_client', clientSecret: 'newco_secret' }

type Options = { readonly headers?: Readonly<Record<string, string>>; readonly token?: string }

const call = (method: string, path: string, body?: object, options: Options = {}) =>
  service.call(`/ingest/v1/${path}`, {
    token,
    method,
    ...(body && { body: JSON.stringify(body) }),
    ...options,
  })

const put = (kind: string, record: object, options: Options = {}) =>
  call('PUT', `${kind}/${(record as { id: string }).id}`, record, options)

const statusOf = async (answer: Promise<Called>) => (await answer).status

const ADDRESS = '0xF0Aa84466e353E5390be37FE2934301c07c19a55'

const kinds = [
  {
    kind: 'fiat-deposit-instructions',
    list: '/v2/transfer/fiat-deposit-instructions?memo_ids=WITHDRAWN0000001',
    envelope: 'items',
    make: someDepositInstructions,
    members: { memo_id: 'WITHDRAWN0000001' },
    query: 'WITHDRAWN0000001',
  },
  {
    kind: 'deposit-addresses',
    list: `/v2/transfer/deposit-addresses?addresses=${ADDRESS}`,
    envelope: 'items',
    make: aDepositAddress,
    members: { address: ADDRESS },
    query: ADDRESS,
  },
  {
    kind: 'statements',
    list: '/v2/statements?customer_id=newco',
    envelope: 'statements',
    make: aStatement,
    members: {},
    query: undefined,
  },
  {
    kind: 'issuer-quote-executions',
    list: '/v2/issuer-quotes?limit=5',
    envelope: 'issuer_quote_executions',
    make: anIssuerQuote,
    members: {},
    query: undefined,
  },
] as const satisfies readonly { readonly kind: RecordKind; readonly [more: string]: unknown }[]

for (const [at, { kind, list, envelope, make, members, query }] of kinds.entries()) {
  const id = anId(100 + at)
  const record = make({ id, customer_id: 'newco', ref_id: `ref ${at}`, ...members })
  const path = `${kind}/${id}`

  describe(`a record of ${kind} that is withdrawn`, () => {
    const listed = async () => {
      const { status, body, headers } = await service.call(list, { token: customer })
      assert.equal(status, 200)
      const ids: string[] = body[envelope].map((item: { id: string }) => item.id)
      return { ids, etag: headers.get('etag'), asOf: headers.get('as-of') ?? '' }
    }
    const exported = async () => {
      const lines = service.parts.store.operator.exportLines(resourceOf(kind), 'newco')
      return (await Array.fromAsync(lines)).filter((line) => line.includes(id)).length
    }
    const found = async () => {
      const { body } = await call('GET', `search?q=${query ?? id}`)
      return body.hits.map((hit: { id: string }) => hit.id)
    }

    test('leaves every current answer, and its versions stay', async () => {
      assert.equal(await statusOf(put(kind, record)), 201)
      const before = await listed()
      assert.deepEqual([before.ids, await exported(), await found()], [[id], 1, [id]])
      const withdrawn = await call('DELETE', path)
      assert.deepEqual([withdrawn.status, withdrawn.text], [204, ''])
      assert.equal(withdrawn.headers.get('etag'), null)
      const current = await listed()
      assert.deepEqual([current.ids, await exported(), await found()], [[], 0, []])
      assert.notEqual(current.etag, before.etag)
      const missing = await call('GET', path)
      assert.equal(missing.status, 404)
      assert.match(missing.body.detail, /^no .* found for id: /)
      const { versions } = (await call('GET', `${path}/history`)).body
      assert.deepEqual(
        versions.map((version: { withdrawn?: true; origin: object; changed: object }) => [
          version.withdrawn,
          version.origin,
          version.changed,
        ]),
        [
          [undefined, { command: 'PUT', client_id: 'core' }, []],
          [true, { command: 'DELETE', client_id: 'core' }, []],
        ],
      )
      const past = await call('GET', `${path}?as_of=${versions[0].stored_at}`)
      assert.deepEqual([past.status, past.body.id], [200, id])
      assert.equal(await statusOf(call('GET', `${path}?as_of=${versions[1].stored_at}`)), 404)
      const lists = [before.asOf, current.asOf].map((asOf) =>
        call('GET', `customers/newco/${kind}?as_of=${asOf}&${list.split('?')[1]}`),
      )
      const [then, now] = (await Promise.all(lists)).map(({ body }) => body[envelope].length)
      assert.deepEqual([then, now], [1, 0])
    })

    test('is withdrawn once, and every condition on a version fails', async () => {
      const { versions } = (await call('GET', `${path}/history`)).body
      assert.equal(await statusOf(call('DELETE', path)), 204)
      assert.equal((await call('GET', `${path}/history`)).body.versions.length, versions.length)
      const held = { headers: { 'if-match': '*' } }
      assert.equal(await statusOf(call('DELETE', path, undefined, held)), 412)
      assert.equal(await statusOf(put(kind, record, held)), 412)
    })

    test('keeps its id, its time and its ref_id, and comes back when it is put again', async () => {
      const foreign = { ...record, customer_id: 'other' }
      assert.equal(await statusOf(put(kind, foreign)), 409)
      const time = kind === 'statements' ? 'period_start' : 'created_at'
      assert.equal(await statusOf(put(kind, { ...record, [time]: '2025-12-01T00:00:00Z' })), 409)
      const other = { ...record, id: anId(900 + at) }
      assert.equal(await statusOf(put(kind, other)), 409)
      const back = await put(kind, record, { headers: { 'if-none-match': '*' } })
      assert.deepEqual([back.status, back.body], [200, { outcome: 'changed' }])
      assert.deepEqual((await listed()).ids, [id])
      const { versions } = (await call('GET', `${path}/history`)).body
      assert.deepEqual(
        versions.map(({ withdrawn }: { withdrawn?: true }) => withdrawn),
        [undefined, true, undefined],
      )
      assert.equal((await call('GET', path)).headers.get('etag'), back.headers.get('etag'))
    })

    test('is stored again by an import, unless the line is older', async () => {
      const of = { ...record, source_version: 3 }
      const imported = (version: number) =>
        take(service.parts.store, kind, [{ ...of, source_version: version }])
      assert.equal((await imported(3)).changed, 1)
      assert.equal(await statusOf(call('DELETE', path)), 204)
      const [fault] = (await imported(2)).faults
      assert.match(fault?.reason ?? '', /^is older than what is stored/)
      assert.deepEqual((await listed()).ids, [])
      assert.equal((await imported(3)).changed, 1)
      assert.deepEqual((await listed()).ids, [id])
      assert.equal(await statusOf(call('DELETE', path)), 204)
    })
  })
}

describe('a memo or an address of a withdrawn record', () => {
  for (const [at, { kind, make, members }] of kinds.slice(0, 2).entries()) {
    test(`of ${kind} is free for another customer, and the first record cannot have it back`, async () => {
      const record = make({ id: anId(150 + at), customer_id: 'newco', ...members })
      const other = make({ id: anId(200 + at), customer_id: 'other', ...members })
      assert.equal(await statusOf(put(kind, record)), 201)
      assert.equal(await statusOf(put(kind, other)), 409)
      assert.equal(await statusOf(call('DELETE', `${kind}/${anId(150 + at)}`)), 204)
      assert.equal(await statusOf(put(kind, other)), 201)
      assert.equal(await statusOf(put(kind, record)), 409)
      // What is withdrawn already holds nothing that another record could be in the way of.
      assert.equal(await statusOf(call('DELETE', `${kind}/${anId(150 + at)}`)), 204)
    })
  }
})

test('a bound client withdraws the records of its customer, and others are unknown to it', async () => {
  const own = aStatement({ id: anId(300), customer_id: 'newco' })
  const foreign = aStatement({ id: anId(301), customer_id: 'other' })
  for (const record of [own, foreign]) await put('statements', record)
  const by = { token: bound }
  assert.equal(await statusOf(call('DELETE', `statements/${anId(300)}`, undefined, by)), 204)
  const unknown = await call('DELETE', `statements/${anId(301)}`, undefined, by)
  assert.equal(unknown.status, 404)
  assert.equal(unknown.body.detail, `no statement found for id: '${anId(301)}'`)
  assert.equal(await statusOf(call('GET', `statements/${anId(301)}`)), 200)
})

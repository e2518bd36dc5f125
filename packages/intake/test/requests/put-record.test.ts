import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeService } from '../../../../test/support/describe-service.ts'
import type { Called } from '../../../../test/support/harness.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import {
  aDepositAddress,
  aFiatAccount,
  anId,
  aStatement,
} from '../../../../test/support/records.ts'
import { writeScope } from '../../../contract/src/operations/ingest/stored-records.ts'

let token: string
let bound: string

const service = describeService({}, async () => {
  const scopes = [
    writeScope('fiat-accounts'),
    writeScope('statements'),
    writeScope('deposit-addresses'),
    'ingest:read_record',
    'ingest:read_history',
  ]
  token = await operatorToken(service, 'core', scopes)
  bound = await operatorToken(service, 'branch', scopes, 'newco')
})

function assertRefused({ status, body }: Called, expected: number, detail: RegExp | string): void {
  assert.equal(status, expected, body?.detail)
  if (typeof detail === 'string') assert.equal(body.detail, detail)
  else assert.match(body.detail, detail)
}

type Options = {
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string
  readonly body?: string
}

const put = (kind: string, record: object, options: Options = {}) =>
  service.call(`/ingest/v1/${kind}/${(record as { id: string }).id}`, {
    token,
    method: 'PUT',
    body: JSON.stringify(record),
    ...options,
  })

const get = (kind: string, id: string, options: Options = {}) =>
  service.call(`/ingest/v1/${kind}/${id}`, { token, ...options })

describe('a record that is put', () => {
  test('is stored whole, and is the same when it is put again', async () => {
    const account = aFiatAccount({ id: anId(101), customer_id: 'newco' })
    const first = await put('fiat-accounts', account)
    assert.deepEqual([first.status, first.body], [201, { outcome: 'added' }])
    const etag = first.headers.get('etag')
    const again = await put('fiat-accounts', account)
    assert.deepEqual([again.status, again.body], [200, { outcome: 'unchanged' }])
    assert.equal(again.headers.get('etag'), etag)
    assert.equal((await get('fiat-accounts', anId(101))).headers.get('etag'), etag)
    const changed = await put('fiat-accounts', { ...account, status: 'APPROVED' })
    assert.deepEqual([changed.status, changed.body], [200, { outcome: 'changed' }])
    assert.notEqual(changed.headers.get('etag'), etag)
    assert.equal((await get('fiat-accounts', anId(101))).body.status, 'APPROVED')
  })

  test('is replaced only if the version is the one that If-Match names', async () => {
    const account = aFiatAccount({ id: anId(102), customer_id: 'newco' })
    const missing = await put('fiat-accounts', account, { headers: { 'if-match': '*' } })
    assertRefused(missing, 412, 'no version is stored, so the condition is not met')
    const first = await put('fiat-accounts', account, { headers: { 'if-none-match': '*' } })
    assert.equal(first.status, 201)
    assert.equal(
      (await put('fiat-accounts', account, { headers: { 'if-none-match': '*' } })).status,
      412,
    )
    const etag = first.headers.get('etag') ?? ''
    const next = { ...account, status: 'APPROVED' }
    const held = { headers: { 'if-match': etag } }
    const replaced = await put('fiat-accounts', next, held)
    assert.equal(replaced.status, 200)
    const late = await put('fiat-accounts', account, held)
    assertRefused(
      late,
      412,
      'If-Match does not name the stored version; read it, and send its entity tag',
    )
    assert.equal(late.headers.get('etag'), replaced.headers.get('etag'))
  })

  test('is refused with the reason why a condition is not met', async () => {
    const account = aFiatAccount({ id: anId(107), customer_id: 'newco' })
    const own = (await put('fiat-accounts', account)).headers.get('etag') ?? ''
    const [weak, other] = ['a weak entity tag (W/"...") never', 'If-Match does not name']
    const ruledOut = 'the stored version is one that If-None-Match rules out'
    for (const [name, value, status, why] of [
      ['if-match', `W/${own}`, 412, weak],
      ['if-match', `"a", W/${own}`, 412, weak],
      ['if-match', own.replace(/"$/, '-gzip"'), 412, other],
      ['if-match', `"a,b" , "\xe9"`, 412, other],
      ['if-match', '""', 412, other],
      ['if-match', `W/"a", ,\t${own},`, 200, ''],
      ['if-match', '*', 200, ''],
      ['if-none-match', '*', 412, ruledOut],
      ['if-none-match', `"a", ${own}`, 412, ruledOut],
      ['if-none-match', `W/${own}`, 412, ruledOut],
      ['if-none-match', 'W/"a", "b"', 200, ''],
      ...['if-match', 'if-none-match'].flatMap((header) =>
        ['"a", x', own.slice(1, -1), `w/${own}`, '"a" "b"', '"a', '', ',', '*, "a"', '"a b"'].map(
          (malformed) => [header, malformed, 400, 'must be * or at most 2048 characters'] as const,
        ),
      ),
      ['if-match', `"${'a'.repeat(2047)}"`, 400, 'must be * or at most 2048 characters'],
    ] as const) {
      const answer = await put('fiat-accounts', account, { headers: { [name]: value } })
      assert.equal(answer.status, status, `${name}: ${value}`)
      assert.ok(
        status === 200 || answer.text.includes(JSON.stringify(why).slice(1, -1)),
        answer.text,
      )
    }
  })

  test('of two writers with the same version, one succeeds and one gets 412', async () => {
    const account = aFiatAccount({ id: anId(103), customer_id: 'newco' })
    let etag = (await put('fiat-accounts', account)).headers.get('etag') ?? ''
    for (let round = 0; round < 20; round += 1) {
      const race = ['a', 'b'].map((name) =>
        put(
          'fiat-accounts',
          { ...account, ref_id: `${name}${round}` },
          { headers: { 'if-match': etag } },
        ),
      )
      const answers = await Promise.all(race)
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 412])
      const winner = answers.find(({ status }) => status === 200)
      etag = winner?.headers.get('etag') ?? ''
    }
  })

  test('is refused with every fault of form', async () => {
    const broken = { ...aFiatAccount({ id: anId(104) }), status: 'MAYBE', created_at: 'today' }
    const { status, body } = await put('fiat-accounts', broken)
    assert.equal(status, 400)
    assert.deepEqual(body.meta.errors.map(({ member }: { member: string }) => member).toSorted(), [
      'created_at',
      'status',
    ])
    const elsewhere = await service.call(`/ingest/v1/fiat-accounts/${anId(105)}`, {
      token,
      method: 'PUT',
      body: JSON.stringify(aFiatAccount({ id: anId(106) })),
    })
    assertRefused(elsewhere, 400, 'id must be the id in the path')
    const empty = await service.call(`/ingest/v1/fiat-accounts/${anId(105)}`, {
      token,
      method: 'PUT',
      body: '',
    })
    assertRefused(empty, 400, 'the body must be a record, and nothing was sent')
  })

  test('is refused with the conflicts of an import', async () => {
    const one = aFiatAccount({ id: anId(107), customer_id: 'newco', ref_id: 'taken' })
    await put('fiat-accounts', one)
    const other = await put('fiat-accounts', { ...one, id: anId(108) })
    assertRefused(other, 409, /^ref_id is already the ref_id of another fiat account/)
    const statement = aStatement({ id: anId(109), customer_id: 'newco', source_version: 2 })
    await put('statements', statement)
    const older = { ...statement, source_version: 1 }
    assertRefused(await put('statements', older), 409, /allow_older=true takes it all the same/)
    const taken = await service.call(`/ingest/v1/statements/${anId(109)}?allow_older=true`, {
      token,
      method: 'PUT',
      body: JSON.stringify(older),
    })
    assert.deepEqual([taken.status, taken.body.outcome], [200, 'changed'])
  })

  test('shares a commit with others, of which each gets its own answer', async () => {
    const records = Array.from({ length: 40 }, (_, at) =>
      aFiatAccount({
        id: anId(200 + at),
        customer_id: 'newco',
        // Every fourth wants the ref_id of the one before it.
        ref_id: `shared ${at % 4 === 3 ? at - 1 : at}`,
      }),
    )
    const answers = await Promise.all(records.map((record) => put('fiat-accounts', record)))
    const statuses = answers.map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 201).length, 30)
    assert.equal(statuses.filter((status) => status === 409).length, 10)
    const same = aFiatAccount({ id: anId(250), customer_id: 'newco' })
    const many = await Promise.all(Array.from({ length: 10 }, () => put('fiat-accounts', same)))
    const outcomes = many.map(({ body }) => body.outcome).toSorted()
    assert.deepEqual(outcomes, ['added', ...Array.from({ length: 9 }, () => 'unchanged')])
  })
})

describe('a fiat account that is deleted', () => {
  test('is marked, keeps its members, and is deleted once', async () => {
    const account = aFiatAccount({ id: anId(301), customer_id: 'newco' })
    const path = `/ingest/v1/fiat-accounts/${anId(301)}`
    const remove = (headers = {}) => service.call(path, { token, method: 'DELETE', headers })
    assertRefused(await remove(), 404, `no fiat account found for id: '${anId(301)}'`)
    const etag = (await put('fiat-accounts', account)).headers.get('etag') ?? ''
    assert.equal((await remove({ 'if-match': '"other"' })).status, 412)
    const removed = await remove({ 'if-match': etag })
    assert.deepEqual([removed.status, removed.text], [204, ''])
    const stored = await get('fiat-accounts', anId(301))
    assert.equal(stored.headers.get('etag'), removed.headers.get('etag'))
    const { deleted_at, ...rest } = stored.body
    assert.deepEqual([rest.id, typeof deleted_at], [anId(301), 'string'])
    const again = await remove()
    assert.deepEqual([again.status, again.headers.get('etag')], [204, removed.headers.get('etag')])
    await put('fiat-accounts', { ...account, deleted_at: null })
    assert.equal((await get('fiat-accounts', anId(301))).body.deleted_at, undefined)
  })
})

describe('a client that is bound to a customer', () => {
  test('writes and reads that customer only', async () => {
    const own = aFiatAccount({ id: anId(401) })
    const { customer_id: _, ...unowned } = own
    const stored = await put('fiat-accounts', unowned, { token: bound })
    assert.equal(stored.status, 201)
    assert.equal(
      (await get('fiat-accounts', anId(401), { token: bound })).body.customer_id,
      'newco',
    )
    const foreign = aFiatAccount({ id: anId(402), customer_id: 'other' })
    const refusal = /^customer_id must be the customer that the client is bound to/
    assertRefused(await put('fiat-accounts', foreign, { token: bound }), 400, refusal)
    await put('fiat-accounts', { ...foreign, source_version: 7 })
    // What the record of another customer holds does not show in the refusal.
    const taken = await put('fiat-accounts', { ...foreign, customer_id: 'newco' }, { token: bound })
    assert.deepEqual(taken.body.meta.errors, [
      { member: 'id', code: 'not_storable', reason: 'cannot be stored' },
    ])
    const unknown = await get('fiat-accounts', anId(402), { token: bound })
    assertRefused(unknown, 404, `no fiat account found for id: '${anId(402)}'`)
    const path = `/ingest/v1/fiat-accounts/${anId(402)}`
    assert.equal((await service.call(path, { token: bound, method: 'DELETE' })).status, 404)
    assert.equal((await service.call(`${path}/history`, { token: bound })).status, 404)
  })
})

test('a write requires the scope of its kind', async () => {
  const other = await operatorToken(service, 'statements-only', ['ingest:write_statements'])
  const record = aDepositAddress({ id: anId(501), customer_id: 'newco' })
  const refusal = /required one of '\[ingest:write_deposit_addresses\]'/
  assertRefused(await put('deposit-addresses', record, { token: other }), 403, refusal)
})

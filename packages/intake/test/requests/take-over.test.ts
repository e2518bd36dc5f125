import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed, systemTime } from '@bursar/base'
import { operatorScopes } from '@bursar/contract'
import { pino } from 'pino'
import { addCustomerClient } from '../../../../test/support/customer-client.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import { type Called, fetchToken } from '../../../../test/support/harness.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { resourceOf, take } from '../../../../test/support/record-store.ts'
import {
  aDepositAddress,
  aFiatAccount,
  anId,
  aStatement,
  someDepositInstructions,
} from '../../../../test/support/records.ts'
import { passTime } from '../../../../test/support/virtual-time.ts'

let token: string
let bound: string
let customer: string
let now = systemTime.now()
const lines: Record<string, unknown>[] = []
const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) })
const service = describeService({ clock: () => now, log }, async () => {
  token = await operatorToken(service, 'core', operatorScopes)
  bound = await operatorToken(service, 'branch', operatorScopes, 'other')
  await addCustomerClient(service, other)
  customer = await fetchToken(service.url, other)
})

const other = { customerId: 'other', clientId: 'other_client', clientSecret: 'other_secret' }

const call = (method: string, path: string, body?: string, as = token) =>
  service.call(`/ingest/v1/${path}`, { token: as, method, ...(body !== undefined && { body }) })

const put = (kind: string, record: object, query = '', as = token) =>
  call('PUT', `${kind}/${(record as { id: string }).id}${query}`, JSON.stringify(record), as)

const post = (kind: string, records: readonly object[], query = '', as = token) =>
  call('POST', `${kind}${query}`, records.map((record) => JSON.stringify(record)).join('\n'), as)

const withdrawals = ({ body }: Called) =>
  body.versions.map(({ withdrawn, origin }: { withdrawn?: true; origin: object }) => [
    withdrawn,
    origin,
  ])

const taken = '?take_over=true'
const addresses = ['0xF0Aa84466e353E5390be37FE2934301c07c19a55']

describe('a value of another customer', () => {
  test('has the holder in its fault for the operator, and no name for a bound client', async () => {
    await put('deposit-addresses', aDepositAddress({ id: anId(1), customer_id: 'newco' }))
    const memo = { memo_id: 'HELD000000000001' }
    const instructions = someDepositInstructions({ id: anId(2), customer_id: 'newco', ...memo })
    await put('fiat-deposit-instructions', instructions)
    await put('statements', aStatement({ id: anId(3), customer_id: 'newco' }))
    const cases = [
      {
        kind: 'deposit-addresses',
        record: aDepositAddress({ id: anId(11), customer_id: 'other' }),
        member: 'crypto_network and address',
        reason: `are held by the deposit address ${anId(1)} of customer "newco"; take_over=true withdraws that record`,
      },
      {
        kind: 'fiat-deposit-instructions',
        record: someDepositInstructions({ id: anId(12), customer_id: 'other', ...memo }),
        member: 'memo_id',
        reason: `is held by the ${resourceOf('fiat-deposit-instructions').noun} ${anId(2)} of customer "newco"; take_over=true withdraws that record`,
      },
      {
        kind: 'statements',
        record: aStatement({ id: anId(3), customer_id: 'other' }),
        member: 'id',
        reason: `is held by the statement ${anId(3)} of customer "newco"; take_over=true withdraws that record`,
      },
    ]
    for (const { kind, record, member, reason } of cases) {
      const [named] = [await put(kind, record)]
      assert.deepEqual(
        [named.status, named.body.meta.errors],
        [409, [{ member, code: 'held', reason }]],
      )
      const hidden = { member, code: 'not_storable', reason: 'cannot be stored' }
      const put409 = await put(kind, record, '', bound)
      assert.deepEqual([put409.status, put409.body.meta.errors], [409, [hidden]])
      assert.equal(put409.body.detail, `${member} cannot be stored`)
      const posted = await post(kind, [record], '', bound)
      assert.deepEqual([posted.status, posted.body.meta.errors], [409, [{ line: 1, ...hidden }]])
      assert.doesNotMatch(`${put409.text}${posted.text}`, /newco/)
    }
    const refused = await put('statements', cases[2]?.record ?? {}, taken, bound)
    assert.equal(refused.status, 403)
    assert.equal((await post('statements', [], taken, bound)).status, 403)
  })

  test('is taken by an operator’s PUT, and the record that had it is withdrawn', async () => {
    const record = aDepositAddress({ id: anId(11), customer_id: 'newco', address: addresses[0] })
    const holder = aDepositAddress({ id: anId(12), customer_id: 'other', address: addresses[0] })
    assert.equal((await call('DELETE', `deposit-addresses/${anId(1)}`)).status, 204)
    assert.equal((await put('deposit-addresses', holder)).status, 201)
    const list = () => service.call('/v2/transfer/deposit-addresses', { token: customer })
    const before = await list()
    assert.equal(before.body.items.length, 1)
    const answer = await put('deposit-addresses', record, taken)
    assert.deepEqual([answer.status, answer.body], [201, { outcome: 'added' }])
    const after = await list()
    assert.deepEqual(after.body.items, [])
    assert.notEqual(after.headers.get('etag'), before.headers.get('etag'))
    const path = `deposit-addresses/${anId(12)}`
    assert.equal((await call('GET', path)).status, 404)
    assert.deepEqual(withdrawals(await call('GET', `${path}/history`)), [
      [undefined, { command: 'PUT', client_id: 'core' }],
      [true, { command: 'take-over', client_id: 'core' }],
    ])
    // The origin of the taker is the other customer's.
    const own = await call('GET', `${path}/history`, undefined, bound)
    assert.deepEqual(withdrawals(own).at(-1), [true, { command: 'take-over' }])
    const past = `customers/other/deposit-addresses?as_of=${before.headers.get('as-of')}`
    assert.equal((await call('GET', past)).body.items.length, 1)
    // The same request again takes nothing.
    assert.equal((await put('deposit-addresses', record, taken)).body.outcome, 'unchanged')
    assert.equal((await put('deposit-addresses', holder)).status, 409)
  })

  test('is taken by a stream and by an import, which name the withdrawn records', async () => {
    const memo = (at: number) => ({ memo_id: `MANY00000000000${at}` })
    const mine = [1, 2, 3].map((at) =>
      someDepositInstructions({ id: anId(40 + at), customer_id: 'newco', ...memo(at) }),
    )
    const theirs = [1, 2, 3].map((at) =>
      someDepositInstructions({ id: anId(50 + at), customer_id: 'other', ...memo(at) }),
    )
    const kind = 'fiat-deposit-instructions'
    await post(kind, theirs)
    const stream = await post(kind, mine.slice(0, 2), taken)
    const { sha256: _digest, ...counts } = stream.body
    assert.deepEqual(counts, { records: 2, added: 2, changed: 0, unchanged: 0, withdrawn: 2 })
    const sha256 = async () => '0'
    const origin = { file: 'newco.ndjson', sha256, user: 'ops', sudoUser: undefined }
    const { store } = service.parts
    const dry = await take(store, kind, mine, { takeOver: true, dryRun: true, origin })
    assert.deepEqual([dry.added, dry.withdrawn], [1, 1])
    assert.equal((await call('GET', `${kind}/${anId(53)}`)).status, 200)
    const report = await take(store, kind, mine, { takeOver: true, origin })
    assert.deepEqual([report.added, report.unchanged, report.withdrawn], [1, 2, 1])
    assert.equal((await call('GET', `${kind}/${anId(53)}`)).status, 404)
    assert.deepEqual(withdrawals(await call('GET', `${kind}/${anId(52)}/history`)).at(-1), [
      true,
      { command: 'take-over', client_id: 'core', line: 2 },
    ])
    assert.deepEqual(withdrawals(await call('GET', `${kind}/${anId(53)}/history`)).at(-1), [
      true,
      { command: 'take-over', file: 'newco.ndjson', user: 'ops', line: 3 },
    ])
    // What lost its memo comes back once it is free again.
    assert.equal((await put(kind, theirs[2] ?? {})).status, 409)
    assert.equal((await call('DELETE', `${kind}/${anId(43)}`)).status, 204)
    assert.equal((await put(kind, theirs[2] ?? {})).body.outcome, 'changed')
  })

  test('is an id too: each customer keeps the versions that were its own', async () => {
    const path = `fiat-accounts/${anId(60)}`
    const theirs = aFiatAccount({ id: anId(60), customer_id: 'other', ref_id: 'theirs' })
    const mine = aFiatAccount({ id: anId(60), customer_id: 'newco', status: 'APPROVED' })
    await put('fiat-accounts', theirs)
    const before = await service.call('/v2/transfer/fiat-accounts', { token: customer })
    assert.equal((await put('fiat-accounts', mine)).status, 409)
    assert.equal((await put('fiat-accounts', mine, taken)).status, 201)
    assert.equal((await call('GET', path)).body.customer_id, 'newco')
    assert.equal((await call('GET', `${path}/history`)).body.versions.length, 1)
    const lost = await call('GET', `${path}/history?customer_id=other`)
    assert.deepEqual(withdrawals(lost).at(-1), [true, { command: 'take-over', client_id: 'core' }])
    assert.equal((await call('GET', path, undefined, bound)).status, 404)
    const foreign = `${path}/history?customer_id=newco`
    assert.equal((await call('GET', foreign, undefined, bound)).status, 404)
    const read = (query: string) =>
      service.call(`/v2/transfer/fiat-accounts/${anId(60)}${query}`, { token: customer })
    assert.equal((await read('')).status, 404)
    // A fiat account is withdrawn by its own rule: its customer may ask for what is deleted.
    assert.equal((await read('?include_deleted=true')).body.ref_id, 'theirs')
    const past = `customers/other/fiat-accounts?as_of=${before.headers.get('as-of')}`
    assert.equal((await call('GET', past)).body.items.length, 1)
    const exported = await Array.fromAsync(
      service.parts.store.operator.exportLines(resourceOf('fiat-accounts'), undefined),
    )
    assert.equal(exported.filter((line) => line.includes(anId(60))).length, 1)
    assert.equal((await call('DELETE', path, undefined, bound)).status, 204)
    assert.equal((await put('fiat-accounts', theirs)).status, 409)
    const back = await put('fiat-accounts', { ...theirs, deleted_at: null }, taken)
    assert.deepEqual(back.body, { outcome: 'changed' })
    assert.equal((await read('')).body.ref_id, 'theirs')
    assert.equal((await call('GET', `${path}/history?customer_id=newco`)).body.versions.length, 2)
  })
})

describe('how many foreign values a bound client meets', () => {
  test('is limited for each hour, and logged without the value', async () => {
    const first = await operatorToken(service, 'prober', operatorScopes, 'other')
    const held = Array.from({ length: limitNamed('foreignValuesPerHourMax') + 5 }, (_, at) =>
      aStatement({ id: anId(700 + at), customer_id: 'newco' }),
    )
    await post('statements', held)
    const probes = held.map((record) => ({ ...record, customer_id: 'other' }))
    lines.length = 0
    assert.equal((await put('statements', probes[0] ?? {}, '', first)).status, 409)
    const stream = await post('statements', probes.slice(1), '', first)
    assert.equal(stream.status, 409)
    // The first fault of this hour was that of the PUT.
    assert.equal(stream.body.meta.errors.length, limitNamed('foreignValuesPerHourMax') - 1)
    for (const refused of [
      await put('statements', probes[0] ?? {}, '', first),
      await post('statements', [], '', first),
    ]) {
      assert.equal(refused.status, 429)
      assert.match(refused.headers.get('retry-after') ?? '', /^3[56]\d\d$/)
    }
    const told = lines.filter(({ msg }) => msg === 'a bound client sent values of other customers')
    assert.deepEqual(
      told.map(({ client, values }) => [client, values]),
      [
        ['prober', 1],
        ['prober', held.length - 1],
      ],
    )
    assert.equal(
      told.some((line) => JSON.stringify(line).includes(anId(700))),
      false,
    )
    assert.equal((await put('statements', probes[0] ?? {}, '', token)).status, 409)
    now += 3_600_000_000n
    passTime(3_600_000)
    await service.parts.oauth.refresh()
    const later = await fetchToken(service.url, {
      customerId: '',
      clientId: 'prober',
      clientSecret: 'prober_secret',
    })
    assert.equal((await put('statements', probes[0] ?? {}, '', later)).status, 409)
  })
})

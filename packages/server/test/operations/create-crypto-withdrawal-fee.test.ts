import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  assertParameterErrors,
  assertProblem,
  errorOf,
} from '../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, borealis, startTestService } from '../../../../test/support/harness.ts'

const path = '/v2/transfer/fees/crypto-withdrawal'
const wallet = '0xF0Aa84466e353E5390be37FE2934301c07c19a55'
const noon = BigInt(Date.parse('2026-11-22T12:00:00.250Z')) * 1000n
const usdc = {
  asset: 'USDC',
  crypto_network: 'ETHEREUM',
  destination_address: wallet,
  amount: '100.00',
}

const service = describeService({ clock: () => noon })

const quote = (body: unknown, options = {}) =>
  service.call(path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...options,
  })

const badRequest = (type: string, detail: string, meta: unknown) =>
  ({ type, status: 400, detail, instance: path, meta }) as const

describe('200', () => {
  test('answers fee, amount and total, and repeats the caller’s figure unchanged', async () => {
    const { status, headers, body } = await quote(usdc)
    assert.equal(status, 200)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('content-type'), 'application/json')
    const { id, ...rest } = body
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    assert.deepEqual(rest, {
      fee: '2.99',
      asset: 'USDC',
      expires_at: '2026-11-22T12:10:00Z',
      destination_address: wallet,
      crypto_network: 'ETHEREUM',
      amount: '100.00',
      total: '102.99',
    })
  })

  test('stores the quote, bound to customer and client, before it answers', async () => {
    const { body } = await quote({ ...usdc, destination_address: wallet.toLowerCase() })
    const stored = await service.parts.quotes.operator.find(body.id)
    const second = (noon / 1_000_000n) * 1_000_000n
    assert.deepEqual(stored, {
      id: body.id,
      customerId: acme.customerId,
      clientId: acme.clientId,
      asset: 'USDC',
      network: 'ETHEREUM',
      address: wallet.toLowerCase(),
      canonicalAddress: wallet,
      amount: '100.00',
      fee: '2.99',
      total: '102.99',
      createdAt: second,
      expiresAt: second + 600_000_000n,
      consumption: undefined,
      isErased: false,
    })
  })

  test('quoting the total of an earlier quote gives its amount', async () => {
    const { amount: _, ...rest } = usdc
    const { body } = await quote({ ...rest, total: '102.99' })
    assert.deepEqual([body.amount, body.fee, body.total], ['100', '2.99', '102.99'])
  })

  test('treats null as absent, ignores unknown members and reads any Content-Type as JSON', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense']) {
      const headers = { 'content-type': type }
      const { status } = await quote({ ...usdc, total: null, memo: 7 }, { headers })
      assert.equal(status, 200, type)
    }
  })

  test('accepts trailing zeros, leading zeros and a leading point', async () => {
    for (const amount of ['1.0000000000', '5.5', '00.5', '.5']) {
      const { status, body } = await quote({ ...usdc, amount })
      assert.deepEqual([status, body.amount], [200, amount], amount)
    }
  })

  test('does not disclose the source of the fee', async () => {
    const { text } = await quote(usdc)
    assert.doesNotMatch(text, /schedule|source|age|margin/)
  })
})

describe('400', () => {
  const invalid: readonly [string, unknown, string][] = [
    ['both figures', { ...usdc, total: '5' }, 'only one of amount or total should be set'],
    ['neither figure', { ...usdc, amount: undefined }, 'either amount or total must be set'],
    [
      'nothing but nulls',
      { ...usdc, amount: null, total: null },
      'either amount or total must be set',
    ],
    ['an unknown network', { ...usdc, crypto_network: 'DOGECOIN' }, 'invalid crypto_network'],
    ['a network in lower case', { ...usdc, crypto_network: 'ethereum' }, 'invalid crypto_network'],
    ['no network', { ...usdc, crypto_network: undefined }, 'crypto_network must be set'],
    ['no asset', { ...usdc, asset: undefined }, 'asset must be set'],
    ['no address', { ...usdc, destination_address: null }, 'destination_address must be set'],
    ['an amount that is a number', { ...usdc, amount: 100 }, 'amount must be a JSON string'],
    ['an asset with a NUL', { ...usdc, asset: 'US\u0000DC' }, 'asset must not contain a NUL'],
    ['zero', { ...usdc, amount: '0.00' }, 'amount must be greater than 0'],
    [
      'a figure of 65 characters',
      { ...usdc, amount: '1'.repeat(65) },
      'amount must have at most 64 characters',
    ],
    ['an array', [usdc], 'the body must be a JSON object'],
    ['a text', '"USDC"', 'the body must be a JSON object'],
    ['null', 'null', 'the body must be a JSON object'],
    [
      'an asset with a lone surrogate',
      '{"asset":"\\ud800"}',
      'asset must be well-formed Unicode; destination_address must be set; crypto_network must be set; either amount or total must be set',
    ],
  ]
  for (const [name, body, detail] of invalid) {
    test(`refuses ${name}`, async () => {
      const { status, headers, body: problem } = await quote(body)
      assert.equal(status, 400)
      assert.equal(headers.get('content-type'), 'application/problem+json')
      assert.deepEqual([problem.type, problem.detail], ['about:blank', detail])
    })
  }

  const notJson: readonly [string, string | Uint8Array, string][] = [
    ['text that ends', '{"asset":', 'must be JSON; in line 1, column 10 a value is expected'],
    [
      'a comma too many',
      '{\n  "asset": "US🙂",\n}',
      'must be JSON; in line 3, column 1 a member name in double quotes is expected',
    ],
    [
      'single quotes',
      "{'asset':1}",
      'must be JSON; in line 1, column 2 a member name in double quotes or } is expected',
    ],
    [
      'an open text',
      '{"asset":"USDC\n"}',
      'must be JSON; in line 1, column 10 a text has no end, a line break or a wrong escape',
    ],
    [
      'brackets as deep as a body can be',
      '['.repeat(16_384),
      'must be JSON; in line 1, column 16385 a value or ] is expected',
    ],
    ['nothing', '', 'must be a JSON object, and nothing was sent'],
    ['blanks', ' \n', 'must be a JSON object, and nothing was sent'],
    ['a form', 'asset=USDC&amount=1', 'must be JSON, and a form was sent'],
    [
      'a multipart form',
      '--x\r\nContent-Disposition: form-data; name="asset"\r\n\r\nUSDC\r\n--x--\r\n',
      'must be JSON, and a form was sent',
    ],
    ['XML', '<?xml version="1.0"?><fee/>', 'must be JSON, and XML was sent'],
    ['Latin-1', Buffer.from('{"asset":"\xfc"}', 'latin1'), 'must be JSON in UTF-8'],
    ['an array', '[]', 'must be a JSON object'],
  ]
  for (const [name, body, reason] of notJson) {
    test(`says what is wrong with a body of ${name}`, async () => {
      const called = await service.call(path, { method: 'POST', body })
      assertParameterErrors(called, path, [['body', reason]], name, `the body ${reason}`)
    })
  }

  for (const [name, body, member] of [
    ['a figure', '"amount":"1","amount":"2"', 'amount'],
    ['a member in two spellings', '"amount":"1","amo\\u0075nt":"1"', 'amount'],
    ['an unknown member', '"memo":1,"memo":1,"amount":"1"', 'memo'],
    ['a nested member', '"amount":"1","memo":[{},{"a":{"b":":","b" : 1}}]', 'memo.1.a.b'],
  ] as const) {
    test(`refuses ${name} that is given twice`, async () => {
      const { amount: _, ...rest } = usdc
      const called = await quote(`${JSON.stringify(rest).slice(0, -1)},${body}}`)
      assertParameterErrors(called, path, [[member, 'must be given once']])
    })
  }

  test('accepts the same member in two objects, and one that contains a colon', async () => {
    const body = JSON.stringify({ ...usdc, memo: [{ a: '":' }, { a: 1 }, { 'a":': { a: 1 } }] })
    assert.equal((await quote(body)).status, 200)
  })

  for (const amount of ['5.', '1e3', '-1', '+1', ' 1', '1 ', '１', '1,5', '0x10', 'NaN', '']) {
    test(`refuses the figure ${JSON.stringify(amount)}`, async () => {
      const reason = 'must be a string of decimal digits such as "12.50"'
      assertParameterErrors(await quote({ ...usdc, amount }), path, [['amount', reason]])
    })
  }

  test('names every invalid member in one answer', async () => {
    const called = await quote({ crypto_network: 7, amount: '1e3' })
    const detail =
      'asset must be set; destination_address must be set; invalid crypto_network; amount must be a string of decimal digits such as "12.50"'
    assertProblem(
      called,
      badRequest('about:blank', detail, {
        errors: [
          errorOf('asset', 'must be set'),
          errorOf('destination_address', 'must be set'),
          errorOf('crypto_network', 'must be a JSON string'),
          errorOf('amount', 'must be a string of decimal digits such as "12.50"'),
        ],
      }),
    )
  })

  test('an asset that the network lacks is refused with the assets that it offers', async () => {
    const called = await quote({ ...usdc, asset: 'BTC' })
    const detail =
      'BTC cannot be withdrawn on ETHEREUM, which offers ETH, PAXG, PYUSD, USDC, USDG, USDP'
    assertProblem(
      called,
      badRequest('/problems/unsupported-asset-network', detail, {
        offered: ['ETH', 'PAXG', 'PYUSD', 'USDC', 'USDG', 'USDP'],
      }),
    )
  })

  test('too many decimals are refused with the decimals of the asset', async () => {
    const called = await quote({ ...usdc, amount: '1.0000001' })
    const detail = 'amount must have at most 6 decimals, as USDC has on ETHEREUM'
    assertProblem(
      called,
      badRequest('/problems/exceed-precision', detail, { figure: 'amount', decimals: 6 }),
    )
  })

  test('an invalid address is refused with its fault and is not echoed', async () => {
    const address = wallet.replace('F0A', 'f0A')
    const { body, text } = await quote({ ...usdc, destination_address: address })
    assert.equal(body.type, '/problems/unsupported-address')
    assert.deepEqual(body.meta, { fault: 'checksum' })
    assert.doesNotMatch(text, /84466e353E/i)
  })

  test('a total that does not exceed the fee is refused with the fee', async () => {
    const { amount: _, ...rest } = usdc
    const called = await quote({ ...rest, total: '2.99' })
    const detail = 'total must be greater than the fee, which is 2.99 USDC'
    assertProblem(called, badRequest('about:blank', detail, { fee: '2.99', total: '2.99' }))
  })

  test('an amount below the minimum is refused with the minimum and the fee', async () => {
    const called = await quote({
      asset: 'BTC',
      crypto_network: 'BITCOIN',
      destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      amount: '0.00000293',
    })
    const detail = 'the amount must be at least 0.00000294 BTC on BITCOIN; the fee is 0.00002613'
    assertProblem(
      called,
      badRequest('/problems/below-min-withdraw-limit', detail, {
        minimum: '0.00000294',
        amount: '0.00000293',
        fee: '0.00002613',
      }),
    )
  })

  test('a secret seed in place of an address is refused as one and is not echoed', async () => {
    const seed = 'SAV76USXIJOBMEQXPANUOQM6F5LIOTLPDIDVRJBFFE2MDJXG24TAPUU7'
    const { status, body, text } = await quote({
      asset: 'XLM',
      crypto_network: 'STELLAR',
      destination_address: seed,
      amount: '5',
    })
    assert.equal(status, 400)
    assert.deepEqual(body.meta, { fault: 'secret_key' })
    assert.doesNotMatch(text, /SAV76/)
  })
})

test('429 when a client holds its maximum of open quotes, until the first expires', async (t) => {
  let now = noon
  const limited = await startTestService({
    clock: () => now,
    env: { BURSAR_FEE_QUOTES_OPEN_MAX: '2' },
  })
  t.after(() => limited.stop())
  const post = (as = acme) => limited.call(path, { method: 'POST', body: JSON.stringify(usdc), as })
  const first = await post()
  now += 60_000_000n
  await limited.clockChanged()
  await post()
  const refused = await post()
  assertProblem(refused, {
    type: '/problems/too-many-open-quotes',
    status: 429,
    headers: { 'retry-after': '540' },
    instance: path,
    detail: 'the client holds 2 guaranteed fees, which is the most; use them or let them expire',
    meta: { open_max: 2, next_expires_at: '2026-11-22T12:10:00Z' },
  })
  assert.equal((await post(borealis)).status, 200, 'each client has its own count')
  now += 540_000_000n
  await limited.clockChanged()
  await limited.parts.oauth.refresh()
  assert.equal((await post()).status, 200, first.body.expires_at)
  assert.equal((await post()).status, 429)
})

test('503 when the operator has not accepted the sample schedule', async (t) => {
  const strict = await startTestService({ env: { BURSAR_ACCEPT_SAMPLE_FEES: 'false' } })
  t.after(() => strict.stop())
  const called = await strict.call(path, { method: 'POST', body: JSON.stringify(usdc) })
  assertProblem(called, {
    type: '/problems/fee-source-unavailable',
    status: 503,
    headers: { 'retry-after': '30' },
    instance: path,
    detail: 'no fee can be guaranteed on ETHEREUM now, try again shortly',
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { acme, borealis, startTestService, type TestService } from '../support/harness.ts'

const path = '/v2/transfer/fees/crypto-withdrawal'
const wallet = '0xF0Aa84466e353E5390be37FE2934301c07c19a55'
const noon = BigInt(Date.parse('2026-11-22T12:00:00.250Z')) * 1000n
const usdc = {
  asset: 'USDC',
  crypto_network: 'ETHEREUM',
  destination_address: wallet,
  amount: '100.00',
}

let service: TestService
before(async () => {
  service = await startTestService({ clock: () => noon })
})
after(() => service.stop())

const ask = (body: unknown, options = {}) =>
  service.call(path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...options,
  })

const problemOf = (body: { request_id: unknown; instance: unknown; title: unknown }) => {
  const { request_id, instance, title, ...rest } = body
  assert.equal(typeof request_id, 'string')
  assert.equal(instance, path)
  return rest
}

describe('200', () => {
  test('answers fee, amount and total, and the caller’s figure as it was sent', async () => {
    const { status, headers, body } = await ask(usdc)
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

  test('stores what it answers before it answers, bound to customer and client', async () => {
    const { body } = await ask({ ...usdc, destination_address: wallet.toLowerCase() })
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
    })
  })

  test('the total that an amount gave gives that amount', async () => {
    const { amount: _, ...rest } = usdc
    const { body } = await ask({ ...rest, total: '102.99' })
    assert.deepEqual([body.amount, body.fee, body.total], ['100', '2.99', '102.99'])
  })

  test('takes null for absent, ignores what it does not know, and reads any Content-Type as JSON', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense']) {
      const headers = { 'content-type': type }
      const { status } = await ask({ ...usdc, total: null, memo: 7 }, { headers })
      assert.equal(status, 200, type)
    }
  })

  test('takes zeros after the last decimal, and figures that begin with a point or zeros', async () => {
    for (const amount of ['1.0000000000', '5.5', '00.5', '.5']) {
      const { status, body } = await ask({ ...usdc, amount })
      assert.deepEqual([status, body.amount], [200, amount])
    }
  })

  test('never tells where the fee came from', async () => {
    const { text } = await ask(usdc)
    assert.doesNotMatch(text, /schedule|source|age|margin/)
  })
})

describe('400', () => {
  const faults: readonly [string, unknown, string, unknown?][] = [
    ['both figures', { ...usdc, total: '5' }, 'only one of amount or total should be set'],
    ['neither figure', { ...usdc, amount: undefined }, 'either amount or total must be set'],
    [
      'nothing but nulls',
      { ...usdc, amount: null, total: null },
      'either amount or total must be set',
    ],
    ['an unknown network', { ...usdc, crypto_network: 'DOGECOIN' }, 'invalid crypto_network'],
    ['a network in lower case', { ...usdc, crypto_network: 'ethereum' }, 'invalid crypto_network'],
    ['no network', { ...usdc, crypto_network: undefined }, 'invalid crypto_network'],
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
    ['no JSON', '{"asset":', 'the body must be JSON in UTF-8'],
    ['nothing', '', 'the body must be JSON in UTF-8'],
  ]
  for (const [name, body, detail] of faults) {
    test(`refuses ${name}`, async () => {
      const { status, headers, body: problem } = await ask(body)
      assert.equal(status, 400)
      assert.equal(headers.get('content-type'), 'application/problem+json')
      assert.deepEqual([problem.type, problem.detail], ['about:blank', detail])
    })
  }

  for (const amount of ['5.', '1e3', '-1', '+1', ' 1', '1 ', '１', '1,5', '0x10', 'NaN', '']) {
    test(`refuses the figure ${JSON.stringify(amount)}`, async () => {
      const { status, body } = await ask({ ...usdc, amount })
      assert.equal(status, 400)
      assert.equal(body.detail, 'amount must be a string of decimal digits such as "12.50"')
    })
  }

  test('tells every fault at once', async () => {
    const { body } = await ask({ crypto_network: 7, amount: '1e3' })
    assert.deepEqual(problemOf(body), {
      type: 'about:blank',
      status: 400,
      detail:
        'asset must be set; destination_address must be set; invalid crypto_network; amount must be a string of decimal digits such as "12.50"',
      meta: {
        errors: [
          { parameter: 'asset', reason: 'must be set' },
          { parameter: 'destination_address', reason: 'must be set' },
          { parameter: 'crypto_network', reason: 'must be a JSON string' },
          {
            parameter: 'amount',
            reason: 'must be a string of decimal digits such as "12.50"',
          },
        ],
      },
    })
  })

  test('names what the network does offer', async () => {
    const { body } = await ask({ ...usdc, asset: 'BTC' })
    assert.deepEqual(problemOf(body), {
      type: '/problems/unsupported-asset-network',
      status: 400,
      detail:
        'BTC cannot be withdrawn on ETHEREUM, which offers ETH, PAXG, PYUSD, USDC, USDG, USDP',
      meta: { offered: ['ETH', 'PAXG', 'PYUSD', 'USDC', 'USDG', 'USDP'] },
    })
  })

  test('names the decimals', async () => {
    const { body } = await ask({ ...usdc, amount: '1.0000001' })
    assert.deepEqual(problemOf(body), {
      type: '/problems/exceed-precision',
      status: 400,
      detail: 'amount must have at most 6 decimals, as USDC has on ETHEREUM',
      meta: { figure: 'amount', decimals: 6 },
    })
  })

  test('says what is wrong with an address and never repeats it', async () => {
    const { body, text } = await ask({ ...usdc, destination_address: wallet.replace('F0A', 'f0A') })
    assert.equal(body.type, '/problems/unsupported-address')
    assert.deepEqual(body.meta, { fault: 'checksum' })
    assert.doesNotMatch(text, /84466e353E/i)
  })

  test('names the fee that a total does not cover', async () => {
    const { amount: _, ...rest } = usdc
    const { body } = await ask({ ...rest, total: '2.99' })
    assert.deepEqual(problemOf(body), {
      type: 'about:blank',
      status: 400,
      detail: 'total must be greater than the fee, which is 2.99 USDC',
      meta: { fee: '2.99', total: '2.99' },
    })
  })

  test('names the minimum and the fee', async () => {
    const { body } = await ask({
      asset: 'BTC',
      crypto_network: 'BITCOIN',
      destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      amount: '0.00000293',
    })
    assert.deepEqual(problemOf(body), {
      type: '/problems/below-min-withdraw-limit',
      status: 400,
      detail: 'the amount must be at least 0.00000294 BTC on BITCOIN; the fee is 0.00002613',
      meta: { minimum: '0.00000294', amount: '0.00000293', fee: '0.00002613' },
    })
  })

  test('a seed that was pasted for an address is named for what it is, nowhere repeated, and not stored', async () => {
    const seed = 'SAV76USXIJOBMEQXPANUOQM6F5LIOTLPDIDVRJBFFE2MDJXG24TAPUU7'
    const { status, body, text } = await ask({
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

test('401 without a token', async () => {
  const { status, headers } = await ask(usdc, { as: null })
  assert.equal(status, 401)
  assert.equal(headers.get('www-authenticate'), 'Bearer')
})

test('403 with a token that may only read', async () => {
  const token = await service.tokenOf(acme, 'transfer:read_fiat_account')
  const { status, body } = await ask({ nothing: 'valid' }, { token })
  assert.equal(status, 403)
  assert.equal(
    body.detail,
    "insufficient scopes: found 'transfer:read_fiat_account', required one of '[fee:write_crypto_withdrawal_fee]'",
  )
})

test('405 for any other method', async () => {
  const { status, headers } = await service.call(path)
  assert.equal(status, 405)
  assert.equal(headers.get('allow'), 'POST')
})

test('413 for a body over 16 KiB', async () => {
  const { status, body } = await ask({ ...usdc, memo: 'x'.repeat(16 * 1024) })
  assert.equal(status, 413)
  assert.equal(body.detail, 'the body must have at most 16384 bytes')
})

test('429 for more open quotes than a client may hold, until the first expires or is consumed', async (t) => {
  let now = noon
  const limited = await startTestService({
    clock: () => now,
    env: { BURSAR_FEE_QUOTES_OPEN_MAX: '2' },
  })
  t.after(() => limited.stop())
  const post = (as = acme) => limited.call(path, { method: 'POST', body: JSON.stringify(usdc), as })
  const first = await post()
  now += 60_000_000n
  await post()
  const refused = await post()
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '540')
  assert.deepEqual(problemOf(refused.body), {
    type: '/problems/too-many-open-quotes',
    status: 429,
    detail: 'the client holds 2 guaranteed fees, which is the most; use them or let them expire',
    meta: { open_max: 2, next_expires_at: '2026-11-22T12:10:00Z' },
  })
  assert.equal((await post(borealis)).status, 200, 'another client has its own count')
  now += 540_000_000n
  await limited.parts.oauth.refresh()
  assert.equal((await post()).status, 200, first.body.expires_at)
  assert.equal((await post()).status, 429)
})

test('503 where nobody took the sample schedule on', async (t) => {
  const strict = await startTestService({ env: { BURSAR_ACCEPT_SAMPLE_FEES: 'false' } })
  t.after(() => strict.stop())
  const { status, headers, body } = await strict.call(path, {
    method: 'POST',
    body: JSON.stringify(usdc),
  })
  assert.equal(status, 503)
  assert.equal(headers.get('retry-after'), '30')
  assert.deepEqual(problemOf(body), {
    type: '/problems/fee-source-unavailable',
    status: 503,
    detail: 'no fee can be guaranteed on ETHEREUM now, try again shortly',
  })
})

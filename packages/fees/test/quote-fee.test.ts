import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CryptoNetwork, parseDecimal } from '@bursar/base'
import { base32nopad } from '@scure/base'
import { encodeStellarAddress } from '../src/addresses/stellar-address.ts'
import type { CostModel } from '../src/cost-model.ts'
import type { FeeBasis } from '../src/fee-basis.ts'
import { type QuoteRequest, quoteFee } from '../src/quote-fee.ts'
import { addressOn, ask, quoted } from './asked.ts'
import { basisWith, days, now, seconds } from './sample-basis.ts'

const sample = basisWith()
describe('quoteFee by the sample schedule', () => {
  const fees: readonly [asset: string, network: CryptoNetwork, fee: string][] = [
    ['BTC', 'BITCOIN', '0.00002613'],
    ['LTC', 'LITECOIN', '0.00002613'],
    ['BCH', 'BITCOIN_CASH', '0.00000823'],
    ['ETH', 'ETHEREUM', '0.000189'],
    ['USDC', 'ETHEREUM', '2.99'],
    ['USDP', 'ETHEREUM', '2.99'],
    ['PAXG', 'ETHEREUM', '0.000995'],
    ['SOL', 'SOLANA', '0.00001'],
    ['USDC', 'SOLANA', '0.79'],
    ['USDG', 'SOLANA', '0.85'],
    ['PYUSD', 'SOLANA', '0.85'],
    ['POL', 'POLYGON_POS', '0.004725'],
    ['USDC', 'POLYGON_POS', '0.02'],
    ['ETH', 'BASE', '0.000001'],
    ['USDC', 'BASE', '0.02'],
    ['ETH', 'ARBITRUM_ONE', '0.000009'],
    ['USDC', 'ARBITRUM_ONE', '0.1'],
    ['XLM', 'STELLAR', '0.001'],
    ['USDC', 'STELLAR', '0.01'],
    ['ETH', 'INK', '0.00000138'],
    ['USDC', 'INK', '0.02'],
    ['OKB', 'XLAYER', '0.000033'],
    ['USDG', 'XLAYER', '0.03'],
  ]
  for (const [asset, network, fee] of fees) {
    it(`charges ${fee} ${asset} on ${network}`, () => {
      assert.equal(quoted(sample, ask(asset, network, { amount: '5' })).fee, fee)
    })
  }

  it('returns both figures, the caller’s as it was sent', () => {
    const byAmount = quoted(sample, ask('BTC', 'BITCOIN', { amount: '00.00100000000' }))
    assert.equal(byAmount.amount, '00.00100000000')
    assert.equal(byAmount.total, '0.00102613')
    const byTotal = quoted(sample, ask('BTC', 'BITCOIN', { total: '.00102613' }))
    assert.deepEqual([byTotal.amount, byTotal.total], ['0.001', '.00102613'])
  })

  it('charges the larger output of a taproot address', () => {
    const taproot = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr'
    const quote = quoted(sample, ask('BTC', 'BITCOIN', { amount: '1' }, taproot))
    assert.equal(quote.fee, '0.00002763')
  })
})

describe('quoteFee refuses', () => {
  const refused = (request: QuoteRequest, basis = sample) => quoteFee(basis, request, now)

  it('a figure that is not a decimal, is too long or is zero', () => {
    for (const [text, fault] of [
      ['1e3', 'form'],
      ['', 'form'],
      ['1'.repeat(65), 'length'],
      ['0.000', 'zero'],
    ] as const) {
      const expected = { ok: false, problem: 'invalid-figure', figure: 'total', fault }
      assert.deepEqual(refused(ask('BTC', 'BITCOIN', { total: text })), expected, text)
    }
  })

  it('an unknown pair and lists the network’s assets', () => {
    assert.deepEqual(refused(ask('USDP', 'SOLANA', { amount: '1' })), {
      ok: false,
      problem: 'unsupported-asset-network',
      fault: 'unknown',
      offered: ['PYUSD', 'SOL', 'USDC', 'USDG'],
    })
  })

  it('a pair whose contract is uncertain until the operator enables it', () => {
    const request = ask('PYUSD', 'ARBITRUM_ONE', { amount: '1' })
    const off = { ok: false, problem: 'unsupported-asset-network', fault: 'off' } as const
    assert.deepEqual(refused(request), { ...off, offered: ['ETH', 'USDC'] })
    const turnedOn = basisWith({ assets: { ARBITRUM_ONE: { PYUSD: { enabled: true } } } })
    assert.equal(refused(request, turnedOn).ok, true)
  })

  it('more decimals than the pair has, which differ by network', () => {
    const figure = { amount: '1.1234567' }
    assert.deepEqual(refused(ask('USDC', 'ETHEREUM', figure)), {
      ok: false,
      problem: 'exceed-precision',
      figure: 'amount',
      decimals: 6,
    })
    assert.equal(refused(ask('USDC', 'STELLAR', figure)).ok, true)
    assert.equal(refused(ask('USDC', 'ETHEREUM', { amount: '1.1234560000000' })).ok, true)
  })

  it('an address of another network, and a token that the operator added', () => {
    const wrong = refused(ask('BTC', 'BITCOIN', { amount: '1' }, addressOn('LITECOIN')))
    assert.deepEqual(wrong, {
      ok: false,
      problem: 'unsupported-address',
      fault: 'wrong_network',
      detail: 'The address belongs to another network.',
    })
    const contract = addressOn('BASE')
    const added = basisWith({ assets: { BASE: { USDC: { contract } } } })
    const token = refused(ask('ETH', 'BASE', { amount: '1' }, contract.toLowerCase()), added)
    assert.equal(
      !token.ok && token.problem === 'unsupported-address' && token.fault,
      'token_contract',
    )
    const elsewhere = refused(ask('USDC', 'ETHEREUM', { amount: '1' }, contract), added)
    assert.deepEqual(elsewhere, token)
  })

  it('a payment of an asset to its issuer, which destroys it', () => {
    const issuer = 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN'
    const key = base32nopad.decode(issuer).subarray(1, 33)
    const amount = { amount: '2' }
    for (const address of [issuer, encodeStellarAddress(key, 7n)]) {
      const burnt = refused(ask('USDC', 'STELLAR', amount, address))
      assert.equal(
        !burnt.ok && burnt.problem === 'unsupported-address' && burnt.fault,
        'token_issuer',
      )
      assert.equal(refused(ask('XLM', 'STELLAR', amount, address)).ok, true)
    }
  })

  it('a total that is not above the fee and names the fee', () => {
    assert.deepEqual(refused(ask('USDC', 'ETHEREUM', { total: '2.99' })), {
      ok: false,
      problem: 'total-not-above-fee',
      fee: '2.99',
      total: '2.99',
    })
  })

  const minimums: readonly [string, CryptoNetwork, string, string][] = [
    ['BTC', 'BITCOIN', '0.00000293', '0.00000294'],
    ['LTC', 'LITECOIN', '0.00002939', '0.0000294'],
    ['BCH', 'BITCOIN_CASH', '0.00000545', '0.00000546'],
    ['SOL', 'SOLANA', '0.000890879', '0.00089088'],
    ['XLM', 'STELLAR', '0.9999999', '1'],
  ]
  for (const [asset, network, amount, minimum] of minimums) {
    it(`less than ${minimum} ${asset}, the minimum on ${network}`, () => {
      const answer = refused(ask(asset, network, { amount }))
      const fee = quoted(sample, ask(asset, network, { amount: minimum })).fee
      const problem = 'below-min-withdraw-limit'
      assert.deepEqual(answer, { ok: false, problem, minimum, amount, fee })
    })
  }
})

describe('quoteFee when its sources fail', () => {
  const cause = (basis: FeeBasis, request: QuoteRequest, at = now) => {
    const answer = quoteFee(basis, request, at)
    return answer.ok ? 'quoted' : answer.problem === 'fee-source-unavailable' ? answer.cause : '?'
  }
  const bitcoin = ask('BTC', 'BITCOIN', { amount: '1' })
  const token = ask('USDC', 'ETHEREUM', { amount: '100' })

  it('does not use the sample unless the operator accepts it', () => {
    const unaccepted = { ...sample, acceptsSample: false }
    assert.equal(cause(unaccepted, bitcoin), 'sample-not-accepted')
    assert.equal(cause(sample, bitcoin, now + days(3_000)), 'quoted')
  })

  it('uses the operator’s dated schedule until it is too old', () => {
    const own = basisWith({ as_of: '2026-11-20' }, { acceptsSample: false })
    assert.equal(cause(own, bitcoin), 'quoted')
    assert.equal(cause(own, bitcoin, now + days(91)), 'schedule-too-old')
    assert.equal(cause(own, bitcoin, now - days(4)), 'schedule-too-old')
    assert.equal(cause(own, token), 'sample-not-accepted')
  })

  it('uses the operator’s dated prices, but only those that they name', () => {
    const prices_as_of = '2026-11-20'
    const both = basisWith(
      { prices_as_of, prices_usd: { ETH: '4000', USDC: '1' } },
      { acceptsSample: false },
    )
    assert.equal(cause(both, token), 'quoted')
    assert.equal(cause(both, token, now + days(31)), 'schedule-too-old')
    const one = basisWith({ prices_as_of, prices_usd: { ETH: '4000' } }, { acceptsSample: false })
    assert.equal(cause(one, token), 'sample-not-accepted')
  })

  const rpc = [{ url: 'http://node.example' }]
  const stale = { observedAtMicros: now - seconds(181), host: 'node.example' }
  const dear: CostModel = {
    ...sample.schedule.networks.BITCOIN.rates,
    family: 'utxo',
    ratePerKvb: 50_000n,
  } as CostModel

  it('uses the node’s figure while it is fresh', () => {
    const fresh = { ...stale, observedAtMicros: now - seconds(180), model: dear }
    const basis = { ...sample, costs: new Map([['BITCOIN', fresh]] as const) }
    const quote = quoted(basis, bitcoin)
    assert.equal(quote.fee, '0.00013063')
    assert.deepEqual(quote.origin, { costSource: 'live', costAgeSeconds: 180 })
  })

  it('falls back to the schedule or refuses, as configured', () => {
    const costs = new Map([['BITCOIN', { ...stale, model: dear }]] as const)
    const toSchedule = basisWith({ networks: { BITCOIN: { rpc } } }, { costs })
    assert.equal(quoted(toSchedule, bitcoin).fee, '0.00002613')
    const toNothing = basisWith({ networks: { BITCOIN: { rpc, on_stale: 'fail' } } }, { costs })
    assert.equal(cause(toNothing, bitcoin), 'no-fresh-costs')
  })

  const live = { observedAtMicros: now, maxAgeSeconds: 60 }
  const usd = (text: string): bigint => {
    const parsed = parseDecimal(text, 18)
    return parsed.ok ? parsed.units : 0n
  }
  const pricedAt = (symbol: string, low: string, high = low): FeeBasis => ({
    ...sample,
    prices: new Map([[symbol, { ...live, agreed: true, low: usd(low), high: usd(high) }]]),
  })

  it('uses the highest native price and counts a stablecoin as one dollar at most', () => {
    assert.equal(quoted(pricedAt('ETH', '2000', '2020'), token).fee, '1.21')
    assert.equal(quoted(pricedAt('USDC', '1.05'), token).fee, '2.99')
    assert.equal(quoted(pricedAt('USDC', '0.98'), token).fee, '3.05')
  })

  it('refuses when a stablecoin lost its peg or prices diverge', () => {
    assert.equal(cause(pricedAt('USDC', '0.9699'), token), 'off-peg')
    const diverging = { ...live, agreed: false } as const
    const basis = { ...sample, prices: new Map([['ETH', diverging]]) }
    assert.equal(cause(basis, token), 'prices-diverge')
    assert.equal(cause(basis, token, now + seconds(61)), 'quoted')
  })
})

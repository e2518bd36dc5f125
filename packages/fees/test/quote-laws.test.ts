import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDecimal, printDecimal } from '@bursar/base'
import fc from 'fast-check'
import type { CostModel } from '../src/cost-model.ts'
import type { FeeBasis } from '../src/fee-basis.ts'
import { quoteFee } from '../src/quote-fee.ts'
import { ask, quoted } from './asked.ts'
import { basisWith, now } from './sample-basis.ts'

const sample = basisWith()

describe('laws of quotes', () => {
  const networks = [...sample.schedule.pairs.keys()]
  const enabled = networks.flatMap((network) => [
    ...[...(sample.schedule.pairs.get(network)?.values() ?? [])].filter((pair) => pair.enabled),
  ])
  const someQuote = fc.record({
    pair: fc.constantFrom(...enabled),
    rate: fc.bigInt({ min: 1n, max: 10n ** 14n }),
    transferPpm: fc.integer({ min: 0, max: 50_000 }),
    units: fc.bigInt({ min: 1n, max: 10n ** 30n }),
  })

  /** The sample with another main rate for one network and another `transferPpm` for one pair. */
  function basisAt(pair: (typeof enabled)[number], rate: bigint, ppm: number): FeeBasis {
    const { network, asset } = pair
    const model = withRate(sample.schedule.networks[network].rates, rate)
    const pairs = new Map(sample.schedule.pairs)
    pairs.set(network, new Map([[asset, { ...pair, transferPpm: BigInt(ppm) }]]))
    const costs = new Map([[network, { model, observedAtMicros: now, host: 'node.example' }]])
    return { ...sample, schedule: { ...sample.schedule, pairs }, costs }
  }

  it('amount + fee = total, and quoting the total returns the amount', () => {
    fc.assert(
      fc.property(someQuote, ({ pair, rate, transferPpm, units }) => {
        const basis = basisAt(pair, rate, transferPpm)
        const amount = printDecimal(units, pair.decimals)
        const first = quoteFee(basis, ask(pair.asset, pair.network, { amount }), now)
        if (!first.ok) return assert.equal(first.problem, 'below-min-withdraw-limit')
        const unitsOf = (text: string) => readUnits(text, pair.decimals)
        assert.equal(unitsOf(first.amount) + unitsOf(first.fee), unitsOf(first.total))
        const again = quoted(basis, ask(pair.asset, pair.network, { total: first.total }))
        assert.equal(again.fee, first.fee)
        assert.equal(again.amount, amount)
      }),
      { numRuns: 1_500 },
    )
  })

  it('amount + fee = the total that the caller named', () => {
    fc.assert(
      fc.property(someQuote, ({ pair, rate, transferPpm, units }) => {
        const total = printDecimal(units, pair.decimals)
        const basis = basisAt(pair, rate, transferPpm)
        const quote = quoteFee(basis, ask(pair.asset, pair.network, { total }), now)
        if (!quote.ok) return
        const amount = readUnits(quote.amount, pair.decimals)
        const fee = readUnits(quote.fee, pair.decimals)
        assert.equal(amount + fee, units)
        assert(amount > 0n && fee > 0n)
      }),
      { numRuns: 1_500 },
    )
  })

  it('a higher rate never makes a lower fee', () => {
    fc.assert(
      fc.property(someQuote, fc.bigInt({ min: 0n, max: 10n ** 14n }), (given, more) => {
        const { pair, rate, transferPpm } = given
        const request = ask(pair.asset, pair.network, { amount: '5' })
        const low = quoted(basisAt(pair, rate, transferPpm), request)
        const high = quoted(basisAt(pair, rate + more, transferPpm), request)
        const { decimals } = pair
        assert(readUnits(high.fee, decimals) >= readUnits(low.fee, decimals))
      }),
      { numRuns: 1_000 },
    )
  })

  function readUnits(text: string, decimals: number): bigint {
    const parsed = parseDecimal(text, decimals)
    assert(parsed.ok, text)
    return parsed.units
  }

  function withRate(model: CostModel, rate: bigint): CostModel {
    switch (model.family) {
      case 'utxo':
      case 'bch':
        return { ...model, ratePerKvb: rate }
      case 'evm':
      case 'op':
      case 'arbitrum':
        return { ...model, gasPriceWei: rate }
      case 'solana':
        return { ...model, microLamportsPerUnit: rate }
      case 'stellar':
        return { ...model, stroopsPerOperation: rate }
    }
  }
})

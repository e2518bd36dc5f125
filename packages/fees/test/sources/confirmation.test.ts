import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { confirmCosts } from '../../src/sources/confirmation.ts'
import { combinePrices, confirmPrice } from '../../src/sources/prices/price-agreement.ts'
import { now, scheduleWith, seconds } from '../sample-basis.ts'

describe('confirmCosts', () => {
  const { rates } = scheduleWith().networks.ETHEREUM
  const at = (gasPriceWei: bigint) => ({ ...rates, gasPriceWei })

  it('accepts costs within four times, up or down', () => {
    for (const price of [250n, 4_000n]) {
      const state = confirmCosts({ accepted: at(1_000n) }, at(price))
      assert.deepEqual(state, { accepted: at(price) }, `price ${price}`)
    }
  })

  it('holds a jump until a second observation agrees', () => {
    const held = confirmCosts({ accepted: at(1_000n) }, at(4_001n))
    assert.deepEqual(held, { accepted: at(1_000n), pending: at(4_001n) })
    assert.deepEqual(confirmCosts(held, at(5_000n)), { accepted: at(5_000n) })
  })

  it('drops a jump that the second observation does not confirm', () => {
    const held = confirmCosts({ accepted: at(1_000n) }, at(249n))
    assert.deepEqual(confirmCosts(held, at(1_100n)), { accepted: at(1_100n) })
  })

  it('keeps waiting while no two observations agree', () => {
    const held = confirmCosts({ accepted: at(1_000n) }, at(10_000n))
    const again = confirmCosts(held, at(100_000n))
    assert.deepEqual(again, { accepted: at(1_000n), pending: at(100_000n) })
  })
})

describe('confirmPrice', () => {
  const price = (usd: bigint) => ({ usd, observedAtMicros: now })

  it('accepts a first price that a second confirms, and later ones within a fifth', () => {
    const first = confirmPrice({}, price(100n))
    assert.deepEqual(first, { pending: price(100n) })
    const second = confirmPrice(first, price(101n))
    assert.deepEqual(second, { accepted: price(101n) })
    assert.deepEqual(confirmPrice(second, price(121n)), { accepted: price(121n) })
  })

  it('holds a price that moved by more and keeps the last one', () => {
    const held = confirmPrice({ accepted: price(100n) }, price(121n))
    assert.deepEqual(held, { accepted: price(100n), pending: price(121n) })
    assert.deepEqual(confirmPrice(held, price(122n)), { accepted: price(122n) })
  })
})

describe('combinePrices', () => {
  const from = (usd: bigint, age: number, maxAgeSeconds = 60) => ({
    usd,
    observedAtMicros: now - seconds(age),
    maxAgeSeconds,
  })

  it('gives the lowest and highest price of sources within 2 %', () => {
    const combined = combinePrices([from(1_000n, 5), from(1_020n, 9)], now)
    const observedAtMicros = now - seconds(9)
    const expected = {
      agreed: true,
      low: 1_000n,
      high: 1_020n,
      observedAtMicros,
      maxAgeSeconds: 60,
    }
    assert.deepEqual(combined, expected)
  })

  it('reports disagreement between sources further apart', () => {
    const combined = combinePrices([from(1_000n, 5), from(1_021n, 5)], now)
    assert.equal(combined?.agreed, false)
  })

  it('ignores prices older than their own limit', () => {
    const combined = combinePrices([from(1_000n, 61), from(2_000n, 5)], now)
    assert(combined?.agreed === true)
    assert.deepEqual([combined.low, combined.high], [2_000n, 2_000n])
    assert.equal(combinePrices([from(1_000n, 61)], now), undefined)
  })
})

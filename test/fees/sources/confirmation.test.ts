import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { combinePrices, takePrice } from '../../../src/fees/sources/prices/price-agreement.ts'
import { look } from '../../../src/fees/sources/second-look.ts'
import { now, scheduleWith, seconds } from '../sample-basis.ts'

describe('look', () => {
  const { rates } = scheduleWith().networks.ETHEREUM
  assert(rates.family === 'evm')
  const at = (gasPriceWei: bigint) => ({ ...rates, gasPriceWei })

  it('takes what lies within four times, up or down', () => {
    for (const price of [250n, 4_000n]) {
      assert.deepEqual(look({ accepted: at(1_000n) }, at(price)), {
        accepted: at(price),
        isHeld: false,
      })
    }
  })

  it('holds a jump until a second look agrees', () => {
    const held = look({ accepted: at(1_000n) }, at(4_001n))
    assert.deepEqual(held, { accepted: at(1_000n), pending: at(4_001n), isHeld: true })
    assert.deepEqual(look(held, at(5_000n)), { accepted: at(5_000n), isHeld: false })
  })

  it('forgets a jump that the second look denies', () => {
    const held = look({ accepted: at(1_000n) }, at(249n))
    assert.deepEqual(look(held, at(1_100n)), { accepted: at(1_100n), isHeld: false })
  })

  it('goes on waiting where no two looks agree', () => {
    const held = look({ accepted: at(1_000n) }, at(10_000n))
    const again = look(held, at(100_000n))
    assert.deepEqual(again, { accepted: at(1_000n), pending: at(100_000n), isHeld: true })
  })
})

describe('takePrice', () => {
  const price = (usd: bigint) => ({ usd, observedAtMicros: now })

  it('takes the first price when a second look agrees, and later ones within a fifth', () => {
    const first = takePrice({}, price(100n))
    assert.deepEqual(first, { pending: price(100n) })
    const second = takePrice(first, price(101n))
    assert.deepEqual(second, { accepted: price(101n) })
    assert.deepEqual(takePrice(second, price(121n)), { accepted: price(121n) })
  })

  it('holds a price that moved by more, and keeps the one before', () => {
    const held = takePrice({ accepted: price(100n) }, price(121n))
    assert.deepEqual(held, { accepted: price(100n), pending: price(121n) })
    assert.deepEqual(takePrice(held, price(122n)), { accepted: price(122n) })
  })
})

describe('combinePrices', () => {
  const from = (usd: bigint, age: number, maxAgeSeconds = 60) => ({
    usd,
    observedAtMicros: now - seconds(age),
    maxAgeSeconds,
  })

  it('gives the lowest and the highest of sources within 2 %', () => {
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

  it('agrees on nothing where they are further apart', () => {
    const combined = combinePrices([from(1_000n, 5), from(1_021n, 5)], now)
    assert.equal(combined?.agreed, false)
  })

  it('leaves out what is too old by its own limit', () => {
    const combined = combinePrices([from(1_000n, 61), from(2_000n, 5)], now)
    assert(combined?.agreed === true)
    assert.deepEqual([combined.low, combined.high], [2_000n, 2_000n])
    assert.equal(combinePrices([from(1_000n, 61)], now), undefined)
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseDecimal, printDecimal } from '../../src/values/decimal.ts'
import { divideDown, divideUp, roundUpToStep } from '../../src/values/rounding.ts'

describe('parseDecimal', () => {
  const read: readonly [text: string, decimals: number, units: bigint][] = [
    ['0.001', 8, 100_000n],
    ['.5', 6, 500_000n],
    ['00.5', 6, 500_000n],
    ['1.0000000000', 6, 1_000_000n],
    ['0', 18, 0n],
    ['7', 0, 7n],
    ['7.000', 0, 7n],
    ['123456789.123456789012345678', 18, 123_456_789_123_456_789_012_345_678n],
  ]
  for (const [text, decimals, units] of read) {
    it(`reads ${text} with ${decimals} decimals exactly`, () => {
      assert.deepEqual(parseDecimal(text, decimals), { ok: true, units })
    })
  }

  const refused = [
    '',
    '.',
    '5.',
    '1e3',
    '-1',
    '+1',
    ' 1',
    '1 ',
    '1_000',
    '0x10',
    '１',
    '1,5',
    '1\n',
  ]
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text)} as not a decimal`, () => {
      assert.deepEqual(parseDecimal(text, 8), { ok: false, fault: 'form' })
    })
  }

  it('refuses a digit after the last allowed decimal', () => {
    assert.deepEqual(parseDecimal('1.0000001', 6), { ok: false, fault: 'precision' })
  })

  it('refuses more than 64 characters before reading them', () => {
    assert.deepEqual(parseDecimal('1'.repeat(64), 0).ok, true)
    assert.deepEqual(parseDecimal('1'.repeat(65), 0), { ok: false, fault: 'length' })
  })
})

describe('printDecimal', () => {
  it('prints the shortest exact text', () => {
    assert.equal(printDecimal(223n, 8), '0.00000223')
    assert.equal(printDecimal(100_000_000n, 8), '1')
    assert.equal(printDecimal(0n, 8), '0')
    assert.equal(printDecimal(42n, 0), '42')
  })

  it('prints text that parses back to the same units', () => {
    const units = fc.bigInt({ min: 0n, max: 10n ** 40n })
    fc.assert(
      fc.property(units, fc.integer({ min: 0, max: 20 }), (value, decimals) => {
        assert.deepEqual(parseDecimal(printDecimal(value, decimals), decimals), {
          ok: true,
          units: value,
        })
      }),
    )
  })
})

describe('rounding', () => {
  it('rounds up, down and to a step', () => {
    assert.deepEqual([divideUp(7n, 2n), divideUp(6n, 2n), divideUp(0n, 2n)], [4n, 3n, 0n])
    assert.deepEqual([divideDown(7n, 2n), divideDown(6n, 2n)], [3n, 3n])
    assert.deepEqual([roundUpToStep(11n, 5n), roundUpToStep(10n, 5n)], [15n, 10n])
  })
})

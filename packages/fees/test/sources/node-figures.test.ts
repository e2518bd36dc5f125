import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  decimalUnits,
  hexUnits,
  requireFreshHead,
  returnedWords,
  wholeUnits,
} from '../../src/sources/networks/node-figures.ts'
import { at, parseExactJson } from '../../src/sources/nodes/exact-json.ts'

describe('parseExactJson', () => {
  it('keeps the source text of every number', () => {
    const text = '{"a":[0.10,1e-05,12345678901234567890],"b":null,"c":true,"d":"7"}'
    const expected = { a: ['0.10', '1e-05', '12345678901234567890'], b: null, c: true, d: '7' }
    assert.deepEqual(parseExactJson(text), expected)
  })

  it('finds a member by its path, but no inherited one', () => {
    const json = parseExactJson('{"a":[{"b":5}]}')
    assert.equal(at(json, 'a', '0', 'b'), '5')
    assert.equal(at(json, 'a', '1', 'b'), undefined)
    assert.equal(at(json, 'constructor'), undefined)
  })
})

describe('decimalUnits', () => {
  const read: readonly [text: string, units: bigint][] = [
    ['0.00024545', 24_545n],
    ['1e-05', 1_000n],
    ['1E-8', 1n],
    ['1.5e1', 1_500_000_000n],
    ['0.000000001', 1n],
    ['0.123456781', 12_345_679n],
    ['0', 0n],
  ]
  for (const [text, units] of read) {
    it(`reads ${text} as ${units}, rounded up`, () => {
      assert.equal(decimalUnits(text, 8), units)
    })
  }

  it('throws on text that is not a decimal, is negative or is out of range', () => {
    for (const value of [
      '-1',
      '',
      '.',
      'NaN',
      '0x1',
      '1e999',
      '9'.repeat(81),
      null,
      undefined,
      ['1'],
    ]) {
      assert.throws(() => decimalUnits(value, 8), Error, String(value))
    }
  })
})

describe('figures of nodes', () => {
  it('throw if they have the wrong form', () => {
    assert.equal(hexUnits('0x2df83ea7'), 771_243_687n)
    for (const value of ['0x', '12', '0xzz', `0x${'f'.repeat(65)}`, null]) {
      assert.throws(() => hexUnits(value), Error, String(value))
    }
    assert.deepEqual(returnedWords(`0x${'0'.repeat(63)}7${'0'.repeat(63)}8`, 2), [7n, 8n])
    assert.throws(() => returnedWords('0x', 1))
    assert.equal(wholeUnits('2039280'), 2_039_280n)
    for (const value of ['1.5', '-1', '1e3', null]) {
      assert.throws(() => wholeUnits(value), Error, String(value))
    }
  })

  it('throw if the newest block is too old or from the future', () => {
    const now = 1_000_000n * 1_000_000n
    requireFreshHead(999_940n, now, 60)
    assert.throws(() => requireFreshHead(999_939n, now, 60), /no recent block/)
    assert.throws(() => requireFreshHead(1_007_201n, now, 60), /future/)
  })
})

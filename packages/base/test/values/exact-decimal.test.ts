import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type ExactDecimal,
  minus,
  plus,
  printExact,
  readExact,
  readSortKey,
  sortKeyOf,
} from '../../src/values/exact-decimal.ts'

/** Amounts as the contract has them, of up to 100 characters, with needless zeros. */
const digits = fc.string({ unit: fc.constantFrom(...'00123456789'), maxLength: 49 })
const amount = fc
  .tuple(
    digits,
    digits.filter((fraction) => fraction !== ''),
  )
  .chain(([whole, fraction]) => fc.constantFrom(`${whole}.${fraction}`, `${whole}${fraction}`))

const compare = (one: ExactDecimal, other: ExactDecimal): number => {
  const { units } = minus(one, other)
  return units < 0n ? -1 : units > 0n ? 1 : 0
}

const byBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other))

test('the order of sort keys, byte by byte, is that of their amounts', () => {
  fc.assert(
    fc.property(amount, amount, (one, other) => {
      const [first, second] = [readExact(one), readExact(other)]
      assert.equal(byBytes(sortKeyOf(first), sortKeyOf(second)), compare(first, second))
    }),
    { numRuns: 2000 },
  )
})

test('amounts that differ in their last digit, or in needless zeros only, are told apart rightly', () => {
  const near = [`1${'0'.repeat(60)}.1`, `1${'0'.repeat(60)}.10000000000000000000000000000000001`]
  const [less = '', more = ''] = near.map((text) => sortKeyOf(readExact(text)))
  assert.ok(byBytes(less, more) < 0)
  assert.equal(sortKeyOf(readExact('00.50')), sortKeyOf(readExact('.5')))
})

test('a sort key and a printed amount lose nothing', () => {
  fc.assert(
    fc.property(amount, (text) => {
      const read = readExact(text)
      assert.equal(compare(readSortKey(sortKeyOf(read)), read), 0)
      assert.equal(compare(readExact(printExact(read)), read), 0)
      assert.match(printExact(read), /^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/)
    }),
  )
})

test('sums and differences are exact', () => {
  const sum = plus(readExact('0.1'), readExact('0.2'))
  assert.equal(printExact(sum), '0.3')
  assert.equal(printExact(minus(readExact('1'), readExact('1.50'))), '-0.5')
  assert.equal(printExact(minus(readExact('2.50'), readExact('2.5'))), '0')
})

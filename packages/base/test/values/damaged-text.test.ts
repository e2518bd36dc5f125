import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isCertainlyEven, oddityOf } from '../../src/values/damaged-text.ts'

/** Texts like those that spreadsheets and pages leave, and their neighbours. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc
    .array(fc.constantFrom('1', '0', '.', ',', 'e', 'E', '+', '-', ' ', '\t', '\u200c', 'é'), {
      maxLength: 20,
    })
    .map((parts) => parts.join('')),
  fc
    .tuple(
      fc.constantFrom('1-Mar', '12-dec-99', '#N/A', '##', 'Err:502', '1234567890123450'),
      fc.string({ maxLength: 1 }),
    )
    .map((parts) => parts.join('')),
)

describe('a text of a record', () => {
  test('is looked at where it has an oddity', () => {
    const property = fc.property(text, fc.boolean(), (value, isIdentifier) => {
      fc.pre(oddityOf(value, isIdentifier) !== undefined)
      assert.equal(isCertainlyEven(JSON.stringify({ member: value })), false)
    })
    fc.assert(property, { numRuns: 2000 })
  })

  test('is not looked at where it is usual', () => {
    const id = '01a21d3c-82b6-71d4-bda7-e1785b4136b4'
    const usual = { id, status: 'APPROVED', amount: '12.50', at: '2026-01-05T09:30:00Z', n: '1000' }
    assert.equal(isCertainlyEven(JSON.stringify(usual)), true)
  })
})

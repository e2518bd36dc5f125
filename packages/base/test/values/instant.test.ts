import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseInstant, printInstant } from '../../src/values/instant.ts'

const micros = (text: string) => parseInstant(text)?.micros

describe('reading a date-time', () => {
  for (const [text, expected] of [
    ['1970-01-01T00:00:00Z', 0n],
    ['1970-01-01t00:00:00.5z', 500_000n],
    ['1970-01-01T01:00:00+01:00', 0n],
    ['1969-12-31T23:59:59.999999Z', -1n],
    ['2024-02-29T12:00:00.123456-05:30', 1_709_227_800_123_456n],
    ['0001-01-01T00:00:00Z', -62_135_596_800_000_000n],
    ['9999-12-31T23:59:59.999999Z', 253_402_300_799_999_999n],
  ] as const) {
    test(`${text} is ${expected} microseconds`, () => {
      assert.deepEqual(parseInstant(text), { micros: expected, finer: false })
    })
  }

  test('drops digits below the microsecond and reports it', () => {
    assert.deepEqual(parseInstant('1970-01-01T00:00:00.000000999Z'), { micros: 0n, finer: true })
    assert.deepEqual(parseInstant('1970-01-01T00:00:00.000001000Z'), { micros: 1n, finer: false })
  })

  for (const text of [
    '',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-1-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00.1234567890Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+00:60',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '２026-01-01T00:00:00Z',
    '2026-01-01T00:00:00 05:00',
    '2026-01-01T00:00:00Z ',
    '+2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
  ]) {
    test(`${JSON.stringify(text)} is not a date-time`, () => {
      assert.equal(parseInstant(text), undefined)
    })
  }
})

describe('printing a date-time', () => {
  for (const [given, expected] of [
    [0n, '1970-01-01T00:00:00Z'],
    [500_000n, '1970-01-01T00:00:00.500Z'],
    [1n, '1970-01-01T00:00:00.000001Z'],
    [-1n, '1969-12-31T23:59:59.999999Z'],
  ] as const) {
    test(`${given} microseconds are ${expected}`, () => {
      assert.equal(printInstant(given), expected)
    })
  }

  test('printed text parses back to the same instant and sorts by time within a precision', () => {
    const anyInstant = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
    fc.assert(
      fc.property(anyInstant, (instant) => {
        assert.equal(micros(printInstant(instant)), instant)
      }),
    )
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readTraceparent } from '../src/traces/trace-context.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const ids = `${traceId}-${spanId}`

test('a traceparent of W3C Trace Context is read', () => {
  const read = { traceId, spanId }
  const cases: readonly (readonly [string, boolean])[] = [
    [`00-${ids}-01`, true],
    [`00-${ids}-00`, false],
    // Other flags are reserved, and the lowest bit alone says that the caller records.
    [`00-${ids}-03`, true],
    [`00-${ids}-fe`, false],
    // A later version has the same first parts.
    [`01-${ids}-01`, true],
    [`cc-${ids}-01-what-the-future-will-be-like`, true],
  ]
  for (const [header, isSampled] of cases) {
    assert.deepEqual(readTraceparent(header), { ...read, isSampled }, header)
  }
})

test('a traceparent of any other form is ignored', () => {
  const malformed = [
    '',
    'CANARY',
    ids,
    `00-${ids}`,
    `00-${ids}-1`,
    `00-${ids}-01-`,
    `00-${ids}-01-more`,
    `00-${ids}-01 `,
    ` 00-${ids}-01`,
    `00-${ids}-0g`,
    `0-${ids}-01`,
    `ff-${ids}-01`,
    `0G-${ids}-01`,
    `01-${ids}-01.`,
    `01-${ids}-01more`,
    `00-${ids.toUpperCase()}-01`,
    `00_${ids}_01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}${spanId}--01`,
    // Sent twice, as Node joins them.
    `00-${ids}-01, 00-${ids}-01`,
    `01-${ids}-01-a, 01-${ids}-01-b`,
    `01-${ids}-01-${'x'.repeat(1000)}`,
  ]
  for (const header of malformed) assert.equal(readTraceparent(header), undefined, header)
  assert.equal(readTraceparent(undefined), undefined)
  assert.equal(readTraceparent([`00-${ids}-01`]), undefined)
})

test('nothing of a header gets through but hexadecimal digits', () => {
  const part = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF-, \n'), maxLength: 70 })
  const header = fc.oneof(
    part,
    fc.string(),
    part.map((text) => `00-${ids}-01${text}`),
  )
  fc.assert(
    fc.property(header, (text) => {
      const read = readTraceparent(text)
      if (read === undefined) return
      assert.match(read.traceId, /^[0-9a-f]{32}$/)
      assert.match(read.spanId, /^[0-9a-f]{16}$/)
    }),
    { numRuns: 2000 },
  )
})

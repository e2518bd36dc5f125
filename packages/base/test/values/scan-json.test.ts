import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { repeatedMembers, scanJson } from '../../src/values/scan-json.ts'

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const parts = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\\u0061',
  '"a"',
  '"a":1',
  '1',
  '0',
  '-',
  '.',
]
const pieces = fc.constantFrom(...parts, 'e', 'true', 'nul', ' ', '\n', '\u0001', '\u2028')

test('finds a fault in exactly the texts that JSON.parse refuses', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (given) => {
      const text = given.join('')
      assert.equal('repeated' in scanJson(text), isJson(text))
    }),
    { numRuns: 3000 },
  )
})

test('finds nothing repeated in what JSON.stringify writes, and every member written twice', () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'small' }), fc.string(), (value, name) => {
      const text = JSON.stringify(value, undefined, 1)
      assert.deepEqual(scanJson(text), { repeated: [] })
      assert.deepEqual(repeatedMembers(text, JSON.parse(text)), [])
      const twice = `[{${JSON.stringify(name)}:${text}, ${JSON.stringify(name)} :${text}}]`
      assert.deepEqual(repeatedMembers(twice, JSON.parse(twice)), [`0.${name}`])
    }),
    { numRuns: 500 },
  )
})

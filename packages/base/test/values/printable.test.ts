import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printable, printableJson, printableLines } from '../../src/values/printable.ts'

/** Escape, C1 control, right-to-left override, zero-width space, line separator, tag, newline. */
const hostile = 'a\u001b[31m\u009b\u202e\u200b\u2028\u{e0041}\nb'

test('a name is one line without control or format characters, and is cut', () => {
  assert.equal(
    printable(hostile),
    'a\\u{1b}[31m\\u{9b}\\u{202e}\\u{200b}\\u{2028}\\u{e0041}\\u{a}b',
  )
  assert.equal(printable('ü😀'.repeat(3), 4), 'ü😀ü😀…')
  assert.equal(printable('ü😀', 2), 'ü😀')
  assert.equal(printable('x\ud800'), 'x\\u{d800}')
})

test('text of several lines keeps its line ends and nothing else that moves the cursor', () => {
  assert.equal(printableLines('a\nb\r\t\u0007ü'), 'a\nb\\u{d}\\u{9}\\u{7}ü')
})

test('JSON for a terminal has the same value and no control or format character', () => {
  const value = { [hostile]: [hostile, 'Ünïcode 😀'] }
  const json = printableJson(JSON.stringify(value))
  assert.deepEqual(JSON.parse(json), value)
  assert.doesNotMatch(json, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  assert.ok(json.includes('Ünïcode 😀'))
})

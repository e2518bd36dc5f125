import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesPrefix, parseDisplayName } from '../../src/values/display-name.ts'

test('a display name is found from the start of each of its words on', () => {
  assert.deepEqual(parseDisplayName('  Müller–Meier  (Zürich) AG '), {
    name: 'Müller–Meier (Zürich) AG',
    terms: ['muller–meier (zurich) ag', 'meier (zurich) ag', 'zurich) ag', 'ag'],
  })
})

test('equal words are one term, and a name has a bounded number of them', () => {
  assert.deepEqual(parseDisplayName('Pay pay')?.terms, ['pay pay', 'pay'])
  assert.equal(parseDisplayName('a b '.repeat(25))?.terms.length, 16)
})

test('a name is one line of at most 100 characters, with something to read', () => {
  const refused = [
    '',
    '   ',
    '–',
    'Acme\nLtd',
    'Acme\u0007',
    'Acme \u202Eltd',
    'Acme\u200B',
    'A\u2028B',
    '\uD800',
    'x'.repeat(101),
    '\u{1F3E6}'.repeat(99),
  ]
  for (const text of refused) assert.equal(parseDisplayName(text), undefined, JSON.stringify(text))
  for (const text of ['x'.repeat(100), '東京銀行', `7${'\u{1F3E6}'.repeat(99)}`]) {
    assert.equal(parseDisplayName(text)?.name, text)
  }
})

test('a prefix matches an id or a word in any case', () => {
  const acme = { id: 'Acme-1', name: 'Great Société' }
  for (const prefix of ['', 'ACME', 'acme-1', 'soc', 'Socié', 'great so']) {
    assert.equal(matchesPrefix(acme, prefix), true, prefix)
  }
  for (const prefix of ['cme', 'eat', 'acme-12']) {
    assert.equal(matchesPrefix(acme, prefix), false, prefix)
  }
})

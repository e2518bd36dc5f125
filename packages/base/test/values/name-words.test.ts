import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wordsOf } from '../../src/values/name-words.ts'

test('words are folded, each once, and initials are one word', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    'Élan  Bank, N.A. of ÉLAN': ['elan', 'bank', 'na', 'of'],
    'U.S. BANK': ['us', 'bank'],
    'M & T Bank': ['mt', 'bank'],
    'Bank J. Safra': ['bank', 'j', 'safra'],
    'Τράπεζα της Ελλάδος Α.Ε.': ['τραπεζα', 'τησ', 'ελλαδοσ', 'αε'],
    'İş Bankası IŞIK': ['is', 'bankasi', 'isik'],
    'Straße STRASSE STRAẞE': ['strasse'],
    '銀 行 7 8': ['銀', '行', '7', '8'],
    ' ,. ': [],
  }
  for (const [text, words] of Object.entries(cases)) assert.deepEqual(wordsOf(text), words, text)
})

test('a word that is too long is cut between two characters', () => {
  for (const start of ['a', 'ab']) {
    const [word = ''] = wordsOf(start + '\u{20000}'.repeat(60))
    assert.ok(word.isWellFormed())
    assert.equal([...word].length, 40)
  }
})

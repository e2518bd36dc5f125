import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wordsOf } from '../../src/values/name-words.ts'

test('words are folded, each once, and a single letter is none', () => {
  assert.deepEqual(wordsOf('Élan  Bank, N.A. of ÉLAN'), ['elan', 'bank', 'of'])
  assert.deepEqual(wordsOf('銀 7'), ['銀', '7'])
  assert.deepEqual(wordsOf(' ,. '), [])
})

test('a word that is too long is cut between two characters', () => {
  for (const start of ['a', 'ab']) {
    const [word = ''] = wordsOf(start + '\u{20000}'.repeat(60))
    assert.ok(word.isWellFormed())
    assert.equal([...word].length, 40)
  }
})

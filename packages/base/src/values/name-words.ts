import { foldText } from './display-name.ts'

/** Longer texts are cut, and so are words, so that an index has bounded entries. */
const TEXT_MAX = 500
const WORD_MAX = 40

/** Single letters that follow each other, of a script with two cases: “u.s.”, “m & t”. */
const initials = /(?<![\p{L}\p{N}])\p{Ll}(?:[^\p{L}\p{N}]+\p{Ll}(?![\p{L}\p{N}]))+/gu
const betweenLetters = /[^\p{L}]+/gu

/**
 * The words of a text in lower case and without accents, each once. Initials are one word, so that
 * “U.S.” is found as “US”, and a single letter, which many names have, is seldom one.
 */
export function wordsOf(text: string): readonly string[] {
  const joined = foldText(text.slice(0, TEXT_MAX)).replaceAll(initials, (found) =>
    found.replaceAll(betweenLetters, ''),
  )
  return [...new Set(joined.match(/[\p{L}\p{N}]+/gu))].map(
    // By code points: half of a character is no text that PostgreSQL takes.
    (word) => [...word].slice(0, WORD_MAX).join(''),
  )
}

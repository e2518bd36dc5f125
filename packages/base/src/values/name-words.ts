import { foldText } from './display-name.ts'

/** Longer texts are cut, and so are words, so that an index has bounded entries. */
const TEXT_MAX = 400
const WORD_MAX = 40

/**
 * The words of a text in lower case and without accents, each once. A single letter of ASCII, such
 * as those of “N.A.”, is no word.
 */
export function wordsOf(text: string): readonly string[] {
  const words = foldText(text.slice(0, TEXT_MAX)).match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words.filter((word) => !/^[a-z]$/.test(word)))].map(
    // By code points: half of a character is no text that PostgreSQL takes.
    (word) => [...word].slice(0, WORD_MAX).join(''),
  )
}

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const document = readFileSync('docs/running.md', 'utf8')

/** The first code block of docs/running.md that contains a text. */
export function blockWith(text: string): string {
  const blocks = [...document.matchAll(/^ *```[a-z]*\n(.*?)^ *```/gms)].map(([, code = '']) => code)
  const found = blocks.find((code) => code.includes(text))
  assert.ok(found !== undefined, `docs/running.md has no block with ${text}`)
  return found
}

/** The words of a command of the document, after `bursar --`. */
export function documentedWords(text: string): readonly string[] {
  const words = blockWith(text)
    .replaceAll(/\\\n */g, '')
    .trim()
    .split(' -- ')[1]
    ?.split(' ')
  assert.ok(words !== undefined, text)
  return words
}

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Checks the prose of comments and documents: no comment line is longer than 100 columns, no
 * sentence longer than 32 words. Code spans, links, tables and code blocks do not count. Prints
 * each fault as `file:line: …` and exits with 1. Arguments name the files to check; without any,
 * every tracked file is checked.
 */

const COLUMNS_MAX = 100
const WORDS_MAX = 32

type Passage = { readonly line: number; readonly text: string }

const files = process.argv.length > 2 ? process.argv.slice(2) : trackedFiles()
const faults = files.flatMap((file) => {
  const lines = readFileSync(file, 'utf8').split('\n')
  const isDocument = file.endsWith('.md')
  const passages = isDocument ? passagesOfDocument(lines) : passagesOfComments(lines, file)
  const long = isDocument ? [] : longCommentLines(lines, file)
  return [...long, ...passages.flatMap(longSentences)].map((fault) => `${file}:${fault}`)
})
for (const fault of faults) process.stdout.write(`${fault}\n`)
process.exitCode = faults.length === 0 ? 0 : 1

function trackedFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '*.ts', '*.md', '*.sql', '*.sh'], {
    encoding: 'utf8',
  })
  return listed.split('\n').filter((file) => file !== '' && file !== 'sdk/src/schema.ts')
}

function commentOf(line: string, file: string): string | undefined {
  const form = file.endsWith('.ts')
    ? /^\s*(?:\/\*\*?|\*(?!\/)|\/\/)\s?(.*?)(?:\*\/)?$/
    : file.endsWith('.sql')
      ? /^\s*--\s?(.*)$/
      : /^\s*#(?!!)\s?(.*)$/
  return form.exec(line)?.[1]
}

function longCommentLines(lines: readonly string[], file: string): string[] {
  return lines.flatMap((line, at) =>
    commentOf(line, file) !== undefined && line.length > COLUMNS_MAX
      ? [`${at + 1}: a comment line has ${line.length} columns, at most ${COLUMNS_MAX}`]
      : [],
  )
}

/**
 * Comment lines that follow one another are one passage; a blank comment line or an end of a block
 * divides them.
 */
function passagesOfComments(lines: readonly string[], file: string): Passage[] {
  const passages: { line: number; text: string }[] = []
  let open: { line: number; text: string } | undefined
  for (const [at, line] of lines.entries()) {
    const text = commentOf(line, file)
    if (text === undefined || text.trim() === '' || /^\s*\/\*\*/.test(line)) open = undefined
    if (text !== undefined && text.trim() !== '') {
      open ??= passages[passages.push({ line: at + 1, text: '' }) - 1]
      if (open !== undefined) open.text += ` ${text}`
    }
    if (line.trimEnd().endsWith('*/')) open = undefined
  }
  return passages
}

/**
 * Paragraphs and list items; headings, tables, block quotes' marks and fenced code are left out.
 */
function passagesOfDocument(lines: readonly string[]): Passage[] {
  const passages: { line: number; text: string }[] = []
  let open: { line: number; text: string } | undefined
  let isCode = false
  for (const [at, line] of lines.entries()) {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode
    if (isCode || /^\s*(#|\||```|~~~|<|$)/.test(line)) {
      open = undefined
      continue
    }
    if (/^\s*([-*]|\d+\.)\s/.test(line)) open = undefined
    open ??= passages[passages.push({ line: at + 1, text: '' }) - 1]
    if (open !== undefined) open.text += ` ${line.replace(/^\s*(>|[-*]|\d+\.)\s/, '')}`
  }
  return passages
}

function longSentences({ line, text }: Passage): string[] {
  const plain = text
    .replaceAll(/`[^`]*`/g, 'x')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/\be\.g\.|\bi\.e\./g, 'eg')
  return plain.split(/(?<=[.;:!?])\s+/).flatMap((sentence) => {
    const words = sentence.split(/\s+/).filter((word) => /[a-z]/i.test(word))
    return words.length > WORDS_MAX
      ? [
          `${line}: a sentence has ${words.length} words, at most ${WORDS_MAX}: ${words.slice(0, 8).join(' ')} …`,
        ]
      : []
  })
}

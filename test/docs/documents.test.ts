import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { faultCodes, problemTypes, statusGuides } from '../../src/contract/problem.ts'
import { operations } from '../../src/operations/index.ts'
import { settings } from '../../src/platform/settings.ts'
import { missingOptional } from '../../tools/complete-lock.ts'

const read = (path: string) => readFileSync(path, 'utf8')

/** The formatter pads the cells of Markdown tables, so cells are trimmed. */
const rowsOf = (path: string) =>
  read(path)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    )

describe('docs/configuration.md', () => {
  const rows = rowsOf('docs/configuration.md').slice(2)

  test('has exactly one row for every setting', () => {
    assert.deepEqual(
      rows.map(([name]) => name),
      Object.keys(settings).map((name) => `\`${name}\``),
    )
  })

  for (const [name, { env, meaning, fallback }] of Object.entries(settings)) {
    test(`describes ${name} as the program does`, () => {
      const isNone = fallback === undefined || (Array.isArray(fallback) && fallback.length === 0)
      const row = rows.find(([first]) => first === `\`${name}\``)
      assert.deepEqual(row, [`\`${name}\``, `\`${env}\``, isNone ? '' : `\`${fallback}\``, meaning])
    })
  }
})

test('docs/problems.md has a row for every status and every problem type', () => {
  const rows = rowsOf('docs/problems.md').slice(2)
  const told = rows.map(([first]) => first)
  const expected = [
    ...statusGuides.map(({ status }) => String(status)),
    ...Object.keys(problemTypes).map((slug) => `\`${slug}\``),
  ]
  assert.deepEqual(told, expected)
})

test('docs/integrating.md lists every code of a fault', () => {
  const guide = read('docs/integrating.md')
  for (const code of Object.keys(faultCodes)) assert.ok(guide.includes(`\`${code}\``), code)
})

test('the README lists every operation with its path and scope', () => {
  const text = read('README.md')
  for (const { path, scope } of operations) {
    assert.ok(text.includes(path.replace(':id', '{id}')), path)
    assert.ok(text.includes(`\`${scope}\``), scope)
  }
})

test('every link from a document to a file has a target', () => {
  const documents = globSync(['*.md', 'docs/**/*.md'])
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].flatMap(([, target = '']) =>
      existsSync(join(dirname(document), target)) ? [] : [`${document}: ${target}`],
    ),
  )
  assert.deepEqual(broken, [])
})

test('no source file has more than 250 lines', () => {
  const long = globSync('src/**/*.ts').filter((path) => read(path).split('\n').length > 251)
  assert.deepEqual(long, [])
})

test('the lock file has the optional packages of every platform, which `npm ci` needs', () => {
  assert.deepEqual(missingOptional(), [])
})

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { limitNamed, settings } from '@bursar/base'
import {
  conflictCodes,
  faultCodes,
  operations,
  problemTypes,
  recordFaultCodes,
  resources,
  statusGuides,
} from '@bursar/contract'
import { bannerOf } from '@bursar/sandbox'
import { worldRecords } from '../../packages/sandbox/src/sample-records.ts'
import { fixtureIds } from '../../packages/sandbox/src/story.ts'
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

test('docs/troubleshooting.md and the README count its errors', () => {
  const text = read('docs/troubleshooting.md')
  const numbers = [...text.matchAll(/^### (\d+)\. /gm)].map(([, number]) => Number(number))
  assert.deepEqual(
    numbers,
    [...numbers.keys()].map((at) => at + 1),
  )
  assert.ok(text.includes(`the ${numbers.length} most likely errors`))
  assert.ok(read('README.md').includes(`the ${numbers.length} most likely errors`))
})

test('docs/integrating.md says how many statement ids a proxy takes by default', () => {
  const uuid = 'f5c943de-fd5e-4a78-917c-b76df3f1085d'
  const lineOf = (count: number) => {
    const query = new URLSearchParams({ customer_id: uuid })
    for (let at = 0; at < count; at += 1) query.append('statement_ids', uuid)
    return `GET /v2/statements?${query} HTTP/1.1`.length
  }
  const nginxDefault = 8 * 1024
  const taken = Array.from({ length: 1000 }, (_, at) => at).findLast(
    (count) => lineOf(count) <= nginxDefault,
  )
  const text = read('docs/integrating.md').replaceAll(/\s+/g, ' ')
  const grouped = (count: number) => count.toLocaleString('en')
  assert.ok(text.includes(`request line of ${grouped(lineOf(1000))} bytes`), `${lineOf(1000)}`)
  assert.ok(
    text.includes(`takes ${grouped(nginxDefault)} bytes, which are ${taken} ids`),
    `${taken}`,
  )
  const proxy = read('docs/running.md')
  assert.ok(
    proxy.includes(`large_client_header_buffers 4 ${limitNamed('headerBytesMax') / 1024}k;`),
  )
})

test('docs/records.md names every limit of an import', () => {
  const text = rowsOf('docs/records.md').join('\n')
  const recordMembersMax = limitNamed('recordMembersMax')
  const recordItemsMax = limitNamed('recordItemsMax')
  const gzipRatioMax = limitNamed('gzipRatioMax')
  const shown = [
    ...[
      limitNamed('recordBytesMax'),
      limitNamed('csvHeaderBytesMax'),
      limitNamed('importBytesMax'),
    ].map((bytes) => {
      return `${bytes.toLocaleString('en')} bytes`
    }),
    `${limitNamed('recordTextLengthMax').toLocaleString('en')} UTF-16 units`,
    `${limitNamed('amountLengthMax')} characters`,
    `${recordMembersMax} and ${recordItemsMax.toLocaleString('en')}`,
    ...[limitNamed('recordDepthMax'), limitNamed('csvColumnsMax'), limitNamed('blankLinesMax')].map(
      (count) => {
        return `,${count.toLocaleString('en')}`
      },
    ),
    `${gzipRatioMax} times, from ${limitNamed('gzipRatioFreeBytes') / 1024 ** 2} MiB on`,
    limitNamed('faultsReportedMax').toLocaleString('en'),
  ]
  for (const limit of shown) assert.ok(text.includes(limit), limit)
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

test('the banner and the guide list the fixture of every kind', () => {
  const config = { host: '127.0.0.1', publicUrl: undefined }
  const banner = bannerOf('http://127.0.0.1:8080', {}, undefined, config)
  const rows = rowsOf('docs/getting-started.md').map((row) => row.join(' '))
  const world = worldRecords()
  for (const { kind, noun } of resources) {
    const id = fixtureIds[kind]
    assert.ok(banner.includes(`${id}  ${noun}\n`), kind)
    assert.ok(rows.includes(`${noun} \`${id}\``), kind)
    assert.ok(world[kind].some((record) => record.id === id && record.customer_id === 'acme'))
  }
})

test('docs/integrating.md lists every code of a fault', () => {
  const guide = read('docs/integrating.md')
  for (const code of Object.keys(faultCodes)) assert.ok(guide.includes(`\`${code}\``), code)
})

test('docs/ingest.md lists every code of a fault with the status that it leads to', () => {
  const guide = read('docs/ingest.md')
  for (const code of Object.keys(recordFaultCodes)) {
    if (code === 'incomplete') continue
    const row = guide
      .split('\n')
      .find((line) => line.startsWith('|') && line.includes(`\`${code}\``))
    const status = code in conflictCodes ? 409 : 400
    assert.match(row ?? '', new RegExp(`\\| ${status} +\\|$`), code)
  }
})

test('the README lists every operation with its path and scope', () => {
  const text = read('README.md')
  for (const { path, scope } of operations) {
    assert.ok(text.includes(path.replace(':id', '{id}')), path)
    assert.ok(text.includes(`\`${scope}\``), path)
  }
})

test('every link from a document to a file has a target', () => {
  const documents = globSync(['*.md', 'docs/**/*.md', 'sdk/*.md', 'packages/*/README.md'])
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].flatMap(([, target = '']) =>
      existsSync(join(dirname(document), target)) ? [] : [`${document}: ${target}`],
    ),
  )
  assert.deepEqual(broken, [])
})

test('docs/decisions/README.md has the number and the title of every page, and no other row', () => {
  const rows = rowsOf('docs/decisions/README.md').slice(2)
  const pages = globSync('docs/decisions/[0-9]*.md').sort()
  const expected = pages.map((path) => {
    const [number, title] = decisionTitle(path)
    return [`[${number}](${basename(path)})`, title, 'accepted']
  })
  assert.deepEqual(rows, expected)
})

test('a decision has at most 600 words, and its file name starts with its number', () => {
  const faults = globSync('docs/decisions/[0-9]*.md').flatMap((path) => {
    const words = read(path)
      .split(/\s+/)
      .filter((word) => /\w/.test(word)).length
    const [number] = decisionTitle(path)
    return [
      ...(words > 600 ? [`${path}: ${words} words`] : []),
      ...(basename(path).startsWith(`${number.padStart(4, '0')}-`) ? [] : [`${path}: ${number}`]),
    ]
  })
  assert.deepEqual(faults, [])
})

test('every decision that a file names has a page', () => {
  const pages = new Set(globSync('docs/decisions/[0-9]*.md').map((path) => decisionTitle(path)[0]))
  const files = globSync(
    '{*.md,{docs,packages,test,tools,examples,sdk,console}/**/*.{ts,tsx,md,sql}}',
    {
      exclude: ['**/node_modules/**'],
    },
  )
  const unknown = files.flatMap((file) =>
    [...read(file).matchAll(/\bdecisions?[ /]0*(\d+)/gi)]
      .filter(([, number = '']) => !pages.has(number))
      .map(([named]) => `${file}: ${named}`),
  )
  assert.deepEqual(unknown, [])
})

/** The number and the title of a page's first line, `# 4. Title`. */
function decisionTitle(path: string): readonly [number: string, title: string] {
  const [, number = '', title = ''] = /^# (\d+)\. (.+)$/m.exec(read(path)) ?? []
  return [number, title]
}

test('every npm script that a document names exists', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const documents = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'])
  const unknown = documents.flatMap((document) =>
    [...read(document).matchAll(/npm run (?:-s )?([\w:-]+)/g)]
      .filter(([, script = '']) => !Object.hasOwn(scripts, script))
      .map(([line]) => `${document}: ${line}`),
  )
  assert.deepEqual(unknown, [])
})

test('the lock file has the optional packages of every platform, which `npm ci` needs', () => {
  assert.deepEqual(missingOptional(), [])
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CsvError, parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { resourceOf } from '../../../../test/support/record-store.ts'
import { readCsv } from '../../src/files/csv/read-csv.ts'
import { readJsonArray } from '../../src/files/reading/json-array.ts'
import { readNdjson, UnreadableFile } from '../../src/files/reading/lines.ts'

/** Files are split into records before they are parsed, wherever the borders of chunks are. */

const runs = { seed: 20_261_123, numRuns: process.env.BURSAR_TEST_LONG === '1' ? 20_000 : 1500 }

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

/** The bytes of a text in chunks of these sizes, over and over. */
async function* chunksOf(text: string, lengths: readonly number[]) {
  const bytes = Buffer.from(text)
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1
    yield bytes.subarray(at, at + length)
    at += length
  }
}

/** The entries before a file cannot be read further, and why it cannot. */
async function readAll<T>(entries: AsyncIterable<T>) {
  const found: T[] = []
  try {
    for await (const entry of entries) found.push(entry)
  } catch (error) {
    assert.ok(error instanceof UnreadableFile, String(error))
    return { found, fault: error.message }
  }
  return { found, fault: undefined }
}

/** No cell with quotation marks has it. */
const CONTROL = 'x\ty'

const cell = fc.oneof(
  fc.constantFrom('', 'a', 'ü', ' ', '#~ x', 'null', '\r', CONTROL),
  fc.constantFrom(
    '"a"',
    '""',
    '"a,b"',
    '"a\nb"',
    '"a\r\nb"',
    '"a""b"',
    '"""", "',
    'a"b',
    '"a"b',
    '"',
  ),
)
const row = fc.array(cell, { minLength: 1, maxLength: 3 }).map((cells) => cells.join(','))

/** The rows that the library finds in the whole text. */
function rowsOf(text: string) {
  const options = {
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n', '\r'],
  }
  const found: unknown[] = []
  try {
    parse(text, {
      ...options,
      skip_empty_lines: true,
      on_record: (cells) => void found.push(cells),
    })
  } catch (error) {
    assert.ok(error instanceof CsvError)
    return { found, isReadable: false }
  }
  return { found, isReadable: true }
}

describe('a file is read as by its whole text', () => {
  test('if it is CSV with any quotation marks and line ends', async () => {
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
    const property = fc.asyncProperty(
      fc.array(fc.tuple(lineEnd, row), { maxLength: 6 }),
      sizes,
      async (rows, lengths) => {
        const text = `id,status${rows.flat().join('')}`
        const { found, fault } = await readAll(
          readCsv(chunksOf(text, lengths), resourceOf('fiat-accounts').record),
        )
        const expected = rowsOf(text)
        const cells = found.map((entry) => {
          if (!('value' in entry)) return 'malformed'
          const { id = '', status = '' } = entry.value as { id?: string; status?: string }
          return [id, status]
        })
        const [, ...all] = expected.found as string[][]
        const others = all.filter((one) => one.some((text) => text !== ''))
        const isTaken = (one: string[]) => one.length === 2 && !one.includes(CONTROL)
        assert.deepEqual(
          { cells, isReadable: fault === undefined },
          {
            cells: others.map((one) => (isTaken(one) ? one : 'malformed')),
            isReadable: expected.isReadable,
          },
        )
      },
    )
    await fc.assert(property, runs)
  })

  test('if it is a JSON array of any values, spaced in any way', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), { maxLength: 5 }),
      fc.constantFrom(undefined, 1, '\t'),
      sizes,
      async (values, space, lengths) => {
        const text = JSON.stringify(values, null, space)
        const { found, fault } = await readAll(readJsonArray(chunksOf(text, lengths)))
        const lines = values.map((_value, at) => {
          if (space === undefined) return 1
          const before = values.slice(0, at).map((one) => JSON.stringify(one, null, space))
          return 2 + before.reduce((sum, one) => sum + one.split('\n').length, 0)
        })
        const read = found.map((entry) => 'value' in entry && [entry.line, entry.value])
        const expected = JSON.parse(text) as unknown[]
        assert.deepEqual(
          { read, fault },
          { read: expected.map((value, at) => [lines[at], value]), fault: undefined },
        )
      },
    )
    await fc.assert(property, runs)
  })

  test('if it is NDJSON of any lines', async () => {
    const lines = fc.array(fc.constantFrom('{"a":1}', '{"a":"ü"}\r', '', '{', ' '), {
      maxLength: 8,
    })
    const property = fc.asyncProperty(lines, sizes, async (given, lengths) => {
      const text = given.join('\n')
      const [cut, whole] = [chunksOf(text, lengths), chunksOf(text, [1000])]
      const [one, other] = [await readAll(readNdjson(cut)), await readAll(readNdjson(whole))]
      const plain = ({ found, fault }: typeof one) => [
        found.map(({ raw: _, ...entry }) => entry),
        fault,
      ]
      assert.deepEqual(plain(one), plain(other))
      const filled = given.flatMap((text, at) => (text.trim() === '' ? [] : [at + 1]))
      assert.deepEqual(
        one.found.map(({ line }) => line),
        filled,
      )
    })
    await fc.assert(property, runs)
  })
})

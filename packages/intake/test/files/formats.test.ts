import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { RecordInput, RecordKind } from '@bursar/contract'
import { temporaryFolder } from '../../../../test/support/harness.ts'
import { resourceOf } from '../../../../test/support/record-store.ts'
import { until } from '../../../../test/support/until.ts'
import type { Entry } from '../../src/entry.ts'
import { readContent } from '../../src/files/reading/content.ts'
import { readNdjson } from '../../src/files/reading/lines.ts'
import { openRecordFile } from '../../src/files/reading/read.ts'

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

const silence = { stdin: process.stdin, silenceSecondsMax: 60 }

async function entriesOf(
  name: string,
  content: string | Uint8Array,
  kind: RecordKind = 'fiat-accounts',
): Promise<Entry[]> {
  const path = join(folder, name)
  writeFileSync(path, content)
  const file = await openRecordFile(path, resourceOf(kind).record, silence)
  // What is kept for rejected records is tested with them, in packages/cli/test/import-
  // files.test.ts.
  return Array.fromAsync(file.entries, ({ raw: _, ...entry }) => entry as Entry)
}

describe('NDJSON', () => {
  test('returns each value with its line and skips blank lines and a byte order mark', async () => {
    assert.deepEqual(await entriesOf('a.ndjson', '\uFEFF{"a":1}\r\n\n{"a":"ü"}'), [
      { line: 1, value: { a: 1 } },
      { line: 3, value: { a: 'ü' } },
    ])
  })

  test('is read behind a byte order mark as without it, like JSON, CSV and files of rejects', async () => {
    const note = '#~ rejected records of a\n'
    const contents = {
      'mark.json': '[{"id":"a"}]',
      'mark.csv': 'id\na\n',
      'mark.ndjson': `${note}{"id":"a"}\n`,
      'mark.rejects.csv': `${note}id\na\n`,
    }
    for (const [name, content] of Object.entries(contents)) {
      const plain = await entriesOf(name, content)
      assert.equal(plain.length, 1, name)
      assert.deepEqual(await entriesOf(name, `\uFEFF${content}`), plain, name)
    }
  })

  test('reports the line that is not JSON or not UTF-8 and continues', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a":\n'),
      Buffer.from([0xff, 0x0a]),
      Buffer.from('{}'),
    ])
    const [first, second, third] = await entriesOf('b.jsonl', bytes)
    assert.ok(first && 'reason' in first && first.reason.startsWith('is not JSON: '))
    assert.deepEqual(second, { line: 2, code: 'not_utf8', reason: 'is not UTF-8' })
    assert.deepEqual(third, { line: 3, value: {} })
  })

  test('does not repeat the content of a malformed line in its fault', async () => {
    const [entry] = await entriesOf('c.ndjson', '{"account_number":"000123456789" oops}')
    assert.ok(entry && 'reason' in entry && !entry.reason.includes('000123456789'))
  })

  test('refuses a line that names a member twice, also nested or with an escape', async () => {
    const lines = [
      '{"id":"1","id":"1"}',
      '{"metadata":{"a":"x","\\u0061":"y"}}',
      '{"a":{"b":"c\\":"},"d":{"b":1}}',
      `${'{"a":'.repeat(5000)}{"b":1,"b":2}${'}'.repeat(5000)}`,
    ]
    const entries = await entriesOf('twice.ndjson', lines.join('\n'))
    const told = entries.map((entry) => ('reason' in entry ? entry.reason : 'accepted'))
    assert.deepEqual(told.slice(0, 3), [
      'names the member id twice',
      'names the member metadata.a twice',
      'accepted',
    ])
    assert.equal(told[3], 'is nested too deeply; a record may have at most 10 levels')
    const [element] = await entriesOf('twice.json', '[{"id":"1","id":"2"}]')
    assert.deepEqual(element, { line: 1, code: 'repeated', reason: 'names the member id twice' })
  })

  test('refuses a line of too many levels or values before it is parsed', async () => {
    // None of these lines is JSON, which the parser would say.
    const lines = [
      '['.repeat(500_000),
      `{"a":${'{"a":'.repeat(5000)}`,
      `[${'[],'.repeat(3000)}`,
      `[${'1,'.repeat(5001)}`,
      `["${'['.repeat(5000)}\\"","${'\\"{,'.repeat(5000)}`,
    ]
    const entries = await entriesOf('bounds.ndjson', lines.join('\n'))
    const told = entries.map((entry) => ('reason' in entry ? entry.reason : 'accepted'))
    const levels = 'is nested too deeply; a record may have at most 10 levels'
    const values = 'has more than 5000 values'
    assert.deepEqual(told.slice(0, 4), [levels, levels, values, values])
    assert.match(told[4] ?? '', /^is not JSON: /)
  })

  test('joins a line that arrives in thousands of pieces', async () => {
    const line = `{"a":"${'x'.repeat(3000)}"}`
    const pieces = async function* () {
      for (const byte of Buffer.from(`${line}\n\n${line}`)) yield Uint8Array.of(byte)
    }
    const entries = await Array.fromAsync(readNdjson(pieces()), ({ raw: _, ...entry }) => entry)
    const value = JSON.parse(line)
    assert.deepEqual(entries, [
      { line: 1, value },
      { line: 3, value },
    ] as Entry[])
  })

  test('of a request ends at a number of lines and of blank ones', async () => {
    const reading = { pace: () => undefined, linesMax: 3, blankLinesMax: 1 }
    const read = (text: string) =>
      Array.fromAsync(readNdjson(Readable.from([Buffer.from(text)]), reading))
    assert.equal((await read('{}\n{}\n{}\n')).length, 3)
    await assert.rejects(read('{}\n{}\n{}\n{}\n'), {
      line: 4,
      message: 'has more than 3 lines; split it',
    })
    await assert.rejects(read('\n{}\n\n'), { line: 3, message: 'has more than 1 blank lines' })
  })

  test('reads a gzip file', async () => {
    assert.deepEqual(await entriesOf('d.ndjson.gz', gzipSync('{"a":1}\n')), [
      { line: 1, value: { a: 1 } },
    ])
  })

  test('stops at a line that is longer than a record may be', async () => {
    await assert.rejects(
      entriesOf('e.ndjson', 'x'.repeat(3_000_000)),
      /longer than a record may be/,
    )
  })
})

describe('a JSON array', () => {
  test('returns each element with the line that it starts on', async () => {
    const text = '[\n  {"a": "],{\\"", "b": [1, 2]},\n\n  {"a":\n 2}\n]\n'
    assert.deepEqual(await entriesOf('a.json', text), [
      { line: 2, value: { a: '],{"', b: [1, 2] } },
      { line: 4, value: { a: 2 } },
    ])
  })

  test('reads an empty array and an array on a single line', async () => {
    assert.deepEqual(await entriesOf('b.json', ' [ ] '), [])
    assert.deepEqual(await entriesOf('c.json', '[{},{}]'), [
      { line: 1, value: {} },
      { line: 1, value: {} },
    ])
  })

  for (const [what, text, message] of [
    ['is cut off', '[{"a":1}', /has no end/],
    ['is not an array', '{"a":1}', /is not part of one JSON array/],
    ['continues after the end of the array', '[]\n[]', /is not part of one JSON array/],
  ] as const) {
    test(`refuses a file that ${what}`, async () => {
      await assert.rejects(entriesOf('d.json', text), message)
    })
  }

  test('reports a missing element and a trailing comma', async () => {
    const [, missing] = await entriesOf('e.json', '[{},,{}]')
    assert.ok(missing && 'reason' in missing)
    const trailing = await entriesOf('f.json', '[{},]')
    assert.ok(trailing.some((entry) => 'reason' in entry))
  })
})

describe('CSV', () => {
  test('nests dotted columns and leaves empty cells out', async () => {
    const csv = [
      'id,status,fiat_network_instructions.wire.account_number,metadata.a.b,source_version,deleted_at',
      'x,PENDING,"12,34",value,7,null',
      'y,,,,,',
    ].join('\n')
    assert.deepEqual(await entriesOf('a.csv', csv), [
      {
        line: 2,
        value: {
          id: 'x',
          status: 'PENDING',
          fiat_network_instructions: { wire: { account_number: '12,34' } },
          metadata: { 'a.b': 'value' },
          source_version: 7,
          deleted_at: null,
        },
      },
      { line: 3, value: { id: 'y' } },
    ])
  })

  test('reads numbered columns as arrays', async () => {
    const csv = 'statement_balances.0.asset,statement_balances.1.asset\nUSDG,USDC\n'
    assert.deepEqual(await entriesOf('b.csv', csv, 'statements'), [
      { line: 2, value: { statement_balances: [{ asset: 'USDG' }, { asset: 'USDC' }] } },
    ])
  })

  test('reports a row of another length with its line and continues', async () => {
    const [short, good] = await entriesOf('c.csv', 'id,status\n1\n2,PENDING\n')
    assert.deepEqual(short, { line: 2, code: 'malformed', reason: 'has 1 cell, the header has 2' })
    assert.deepEqual(good, { line: 3, value: { id: '2', status: 'PENDING' } })
  })

  test('reads each line end for itself, whatever the first one was', async () => {
    for (const first of ['\n', '\r\n', '\r']) {
      const csv = `id,ref_id${first}1,a\r\n2,b\n3,c\r4,"d\re"\r\r\n5,f`
      assert.deepEqual(await entriesOf('ends.csv', csv), [
        { line: 2, value: { id: '1', ref_id: 'a' } },
        { line: 3, value: { id: '2', ref_id: 'b' } },
        { line: 4, value: { id: '3', ref_id: 'c' } },
        { line: 5, value: { id: '4', ref_id: 'd\re' } },
        { line: 8, value: { id: '5', ref_id: 'f' } },
      ])
    }
  })

  test('reports a control character in a cell without quotation marks, with its column', async () => {
    const csv = 'id,metadata.a\tb\n1,x\n'
    await assert.rejects(
      entriesOf('control.csv', csv),
      /^.*the header has the .* U\+0009 in cell 2/,
    )
    for (const row of ['1,\t0012', '"1",\t0012', '1,a\u0085']) {
      const [entry] = await entriesOf('control.csv', `id,ref_id\n${row}\n`)
      assert.ok(entry !== undefined && 'reason' in entry)
      assert.match(entry.reason, /^has the control character U\+00\d\d in cell 2 \(ref_id\); /)
    }
    assert.deepEqual(await entriesOf('quoted.csv', 'id,metadata.a\n1,"x\ty"\n'), [
      { line: 2, value: { id: '1', metadata: { a: 'x\ty' } } },
    ])
  })

  test('skips a row whose cells are all empty, and counts it', async () => {
    const path = join(folder, 'blank.csv')
    writeFileSync(path, 'id,status\n,\n1,PENDING\n"",""\n,,,,\n\n')
    const file = await openRecordFile(path, resourceOf('fiat-accounts').record, silence)
    assert.equal((await Array.fromAsync(file.entries)).length, 1)
    assert.equal(file.blankRows(), 3)
  })

  for (const [what, header, message] of [
    ['names a column twice', 'id,id', 'the header names the column id twice'],
    [
      'separates cells by semicolons',
      'id;status',
      'the header is one column; cells must be separated by commas; --delimiter names another character',
    ],
    ['has an unknown column', 'id,nick', 'the header has columns that are no member: nick'],
    [
      'misspells columns',
      'stauts,fiat_network_instructions.wier.account_number',
      'the header has columns that are no member: stauts (did you mean status?), fiat_network_instructions.wier.account_number (did you mean fiat_network_instructions.wire.account_number?)',
    ],
  ] as const) {
    test(`refuses a header that ${what} once, for line 1`, async () => {
      await assert.rejects(entriesOf('d.csv', `${header}\n1,2\n`), { message, line: 1 })
    })
  }
})

describe('a file without bounds', () => {
  /** Without the limits some of these take longer than a test may. */
  async function refuses(name: string, content: string | Uint8Array, fault: object) {
    await assert.rejects(entriesOf(name, content), fault)
  }

  test('is refused for 60,000 columns, in the header and in a row', async () => {
    const columns = Array.from({ length: 60_000 }, (_, at) => `metadata.k${at}`).join(',')
    const header = { message: 'the header has more than 4000 cells', line: 1 }
    await refuses('columns.csv', columns, header)
    const row = { message: 'the row has more than 4000 cells', line: 2 }
    await refuses('row.csv', `id,status\n${','.repeat(60_000)}`, row)
  })

  test('is refused for a column with 100,000 dots, and for a longer name', async () => {
    const name = `fiat_network_instructions${'.a'.repeat(100_000)}`
    const message = `the header has columns that are no member: ${name.slice(0, 100)}…`
    await refuses('dotted.csv', `id,${name}\nx,y\n`, { message, line: 1 })
    const long = { message: 'the header is longer than 262144 bytes', line: 1 }
    await refuses('name.csv', `id,${name}${name}`, long)
  })

  test('is refused for blank lines in a row, in each format', async () => {
    const blank = '\n'.repeat(2_000_000)
    const message = 'has more than 10000 blank lines in a row'
    await refuses('blank.ndjson.gz', gzipSync(blank), { message })
    await refuses('blank.csv.gz', gzipSync(`id${blank}`), { message })
    const between = /^the space between two records is longer than a record may be/
    await refuses('blank.json.gz', gzipSync(`[${blank}]`), { message: between })
  })

  test('is refused for a row, an unclosed quotation mark and an array item over 1 MiB', async () => {
    const long = 'x'.repeat(2_000_000)
    const message = 'the row is longer than a record may be (1048576 bytes)'
    await refuses('long.csv', `id\n${long}`, { message, line: 2 })
    const quoted = `${message}; is a quotation mark missing?`
    await refuses('quote.csv', `id\n"${long}`, { message: quoted, line: 2 })
    const item = 'the record that starts here is longer than a record may be (1048576 bytes)'
    await refuses('item.json', `[\n"${long}"]`, { message: item, line: 2 })
  })

  test('is refused for a ratio that no records have, and for its size', async () => {
    const lines = '{"a":1}\n'.repeat(10_000)
    const read = (bounds: object) => {
      const bytesRead = () => 100
      const content = readContent(
        Readable.from([gzipSync(lines)]),
        { isGzip: true, bytesRead },
        { contentBytesMax: 1e9, gzipRatioMax: 200, gzipRatioFreeBytes: 1e6, ...bounds },
      )
      return Array.fromAsync(content)
    }
    assert.equal(Buffer.concat(await read({})).toString(), lines)
    await assert.rejects(read({ gzipRatioFreeBytes: 10 }), /to more than 200 times its size/)
    await assert.rejects(read({ contentBytesMax: 79_999 }), /more than 79999 bytes of content/)
  })

  test('is no CSV with every column that a statement may have', async () => {
    const members = ['asset', 'amount_paid', 'total_amount_owed']
    const balances = Array.from({ length: 3000 }, (_, at) => {
      return `statement_balances.${Math.floor(at / 3)}.${members[at % 3]}`
    })
    const keys = Array.from({ length: 50 }, (_, at) => `metadata.${at}.${'k'.repeat(490)}`)
    const columns = [...balances, ...keys]
    const csv = `${columns.join(',')}\n${columns.map(() => '1').join(',')}\n`
    const [entry] = await entriesOf('wide.csv', csv, 'statements')
    const { statement_balances, metadata } = (entry as { value: RecordInput }).value
    assert.equal((statement_balances as object[]).length, 1000)
    assert.equal(Object.keys(metadata as object).length, 50)
  })
})

test('refuses a file of another format by its first bytes and says what to do', async () => {
  for (const [start, message] of [
    ['1f8b08', 'is compressed with gzip; its name must end with .gz'],
    ['504b0304', 'is a ZIP archive or a spreadsheet; save it as CSV in UTF-8'],
    ['fffe', 'is UTF-16; save it as UTF-8'],
    ['7f454c4600', 'is a binary file, or UTF-16; records are text in UTF-8'],
  ] as const) {
    await assert.rejects(entriesOf('other.ndjson', Buffer.from(start, 'hex')), { message })
  }
  await assert.rejects(entriesOf('empty.json', ' '), /is empty; it must hold one JSON array/)
  await assert.rejects(entriesOf('empty.csv', ''), /is empty; CSV starts with a header line/)
})

test('names a column that has both a value and members, and none whose key has a dot', async () => {
  await assert.rejects(entriesOf('parent.csv', 'metadata,metadata.a\n'), {
    message: 'the header has metadata both as a column and with members',
  })
  assert.deepEqual(await entriesOf('keys.csv', 'metadata.a,metadata.a.b\n1,2\n'), [
    { line: 2, value: { metadata: { a: '1', 'a.b': '2' } } },
  ])
})

test('refuses CSV that is not UTF-8 and names the line, also far into the file', async () => {
  for (const lineEnd of ['\n', '\r\n', '\r']) {
    // Compressed, since that is read in chunks of 16 KiB, whose borders cut lines and characters.
    const good = `id,status,ref_id${lineEnd}${`üü,PENDING,üüü${lineEnd}`.repeat(4000)}`
    const bad = Buffer.from(`M\u00fcller,PENDING,1${lineEnd}`, 'latin1')
    const file = gzipSync(Buffer.concat([Buffer.from(good), bad, Buffer.from(good)]))
    const fault = { message: 'is not UTF-8', line: 4002 }
    await assert.rejects(entriesOf('g.csv.gz', file), fault, JSON.stringify(lineEnd))
  }
  const cut = Buffer.from('id\nü').subarray(0, -1)
  await assert.rejects(entriesOf('cut.csv', cut), { message: 'is not UTF-8', line: 2 })
})

test('a file that is refused at its header keeps no timer that would hold the process', async () => {
  await assert.rejects(entriesOf('header.csv', 'id,id\n1,2\n'))
  await until(() => !process.getActiveResourcesInfo().includes('Timeout'))
})

test('reads numbered columns with a gap as an object, which the check refuses', async () => {
  const csv = 'statement_balances.1.asset\nUSDG\n'
  assert.deepEqual(await entriesOf('h.csv', csv, 'statements'), [
    { line: 2, value: { statement_balances: { 1: { asset: 'USDG' } } } },
  ])
})

test('refuses a file that is not gzip, or that is cut off', async () => {
  const other = { message: 'is not compressed with gzip, as its name or Content-Encoding says' }
  await assert.rejects(entriesOf('e.ndjson.gz', '{}\n'), other)
  await assert.rejects(entriesOf('e.csv.gz', 'id\n1\n'), other)
  const cut = gzipSync('{"a":1}\n'.repeat(1000)).subarray(0, 40)
  const isCut = { message: 'is not whole as gzip; was it cut off?' }
  await assert.rejects(entriesOf('f.ndjson.gz', cut), isCut)
})

test('reads all that follows in a gzip file, or refuses it', async () => {
  const [one, two] = [gzipSync('{"a":1}\n'), gzipSync('{"a":2}\n')]
  const read = (...parts: readonly Uint8Array[]) => entriesOf('g.ndjson.gz', Buffer.concat(parts))
  assert.equal((await read(one, two)).length, 2)
  assert.equal((await read(one, Buffer.alloc(1000))).length, 1)
  const message = 'is damaged as gzip, or has something else after its end'
  for (const parts of [
    [one, Buffer.from('{"a":2}\n')],
    [one, Buffer.alloc(512), two],
    [one, Buffer.alloc(1), Buffer.from('{"a":2}\n')],
  ]) {
    await assert.rejects(read(...parts), { message })
  }
})

test('knows another format by bytes that arrive one by one', async () => {
  for (const [start, message] of [
    ['1f8b08', 'is compressed with gzip; its name must end with .gz'],
    ['7b00', 'is a binary file, or UTF-16; records are text in UTF-8'],
  ] as const) {
    const bytes = [...Buffer.from(start, 'hex')].map((byte) => Buffer.of(byte))
    const content = readContent(Readable.from(bytes), { isGzip: false, bytesRead: () => 0 })
    await assert.rejects(Array.fromAsync(content), { message })
  }
})

test('refuses an unknown extension and a missing file', async () => {
  await assert.rejects(entriesOf('a.txt', ''), /the ending must be \.ndjson/)
  await assert.rejects(
    openRecordFile(join(folder, 'none.csv'), resourceOf('statements').record, silence),
    /there is no such file/,
  )
  await assert.rejects(
    openRecordFile(folder, resourceOf('statements').record, silence),
    /is a folder; name one file in it/,
  )
})

test('a compressed source that was closed before it is read ends with an error', async () => {
  const source = new Readable({ read: () => {} })
  source.destroy()
  const bounds = { isGzip: true, bytesRead: () => 0 }
  await assert.rejects(Array.fromAsync(readContent(source, bounds)), /closed before its end/)
  const cut = new Readable({ read: () => {} })
  const reading = Array.fromAsync(readContent(cut, bounds))
  setImmediate(() => cut.destroy())
  await assert.rejects(reading, /closed before its end/)
})

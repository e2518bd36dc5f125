import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openPlace, temporaryFolder } from '../../../test/support/harness.ts'
import { runProgram } from '../../../test/support/program.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'

const folder = temporaryFolder()
const places: Awaited<ReturnType<typeof openPlace>>[] = []
after(async () => {
  rmSync(folder, { recursive: true, force: true })
  for (const place of places) await place.remove()
})

/** A new store, and a folder for its files. */
async function openCase(name: string) {
  const place = await openPlace()
  places.push(place)
  const own = join(folder, name)
  mkdirSync(own)
  const write = (file: string, content: string | Buffer): string => {
    writeFileSync(join(own, file), content)
    return join(own, file)
  }
  const run = (...words: readonly string[]) => runBursar(place.commandUrl, [...words])
  const stored = async () => {
    const { out } = await run('export', 'fiat-accounts')
    return out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }
  return { own, write, place, run, stored }
}

const account = (at: number, members: object = {}) =>
  aFiatAccount({ id: anId(at), ref_id: `ref-${at}`, ...members })
const lines = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

const csvHeader =
  'id,customer_id,profile_id,crypto_network,address,conversion_target_asset,compatible_crypto_networks.0,ref_id,created_at'
const address = '0xF0Aa84466e353E5390be37FE2934301c07c19a55'
const otherAddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const csvRow = (at: number) =>
  `${anId(at)},northwind,main,ETHEREUM,${address},USD,ETHEREUM,,2026-01-05T09:30:00Z`

describe('import --on-error skip', () => {
  test('stores the good records and writes each bad line, as it came, below its reasons', async () => {
    const { own, write, run, stored } = await openCase('skip')
    const badId = JSON.stringify(account(2, { id: 'no' }))
    const spaced = ` ${JSON.stringify(account(3, { status: 'ODD', created_at: 'x' }))}  `
    const path = write(
      'in.ndjson',
      `\uFEFF{"cut\n${lines([account(1)])}${badId}\r\n\n${spaced}\n${lines([account(4)])}`,
    )
    const ran = await run('import', 'fiat-accounts', path, '--on-error', 'skip')
    assert.deepEqual(
      [ran.code, ran.out],
      [3, '5 records: 2 added, 0 changed, 0 unchanged, 3 rejected\n'],
    )
    const rejects = join(own, 'in.ndjson.rejects.ndjson')
    assert.match(ran.err, /3 rejected records, in .*in\.ndjson\.rejects\.ndjson with the reasons/)
    const written = readFileSync(rejects, 'utf8').split('\n')
    assert.deepEqual(
      written.filter((line) => !line.startsWith('#~ ')),
      ['{"cut', badId, spaced, ''],
    )
    assert.equal(written[0], '#~ rejected records of in.ndjson; the last line says what to do')
    assert.match(String(written[1]), /^#~ line 1: record: is not JSON/)
    assert.match(String(written[3]), /^#~ line 3: id: /)
    assert.equal(written.filter((line) => line.startsWith('#~ line 5: ')).length, 2)
    const ids = (await stored()).map(({ id }) => id)
    assert.deepEqual(ids.toSorted(), [anId(1), anId(4)])
  })

  test('writes a file that can be imported once its records are corrected', async () => {
    const { own, write, run, stored } = await openCase('corrected')
    const path = write('in.ndjson', lines([account(1), account(2, { status: 'ODD' })]))
    await run('import', 'fiat-accounts', path, '--on-error', 'skip')
    const rejects = join(own, 'in.ndjson.rejects.ndjson')
    const again = await run('import', 'fiat-accounts', rejects)
    assert.match(again.err, /rejects\.ndjson:3: status: /)
    writeFileSync(rejects, readFileSync(rejects, 'utf8').replace('ODD', 'APPROVED'))
    const ran = await run('import', 'fiat-accounts', rejects)
    assert.deepEqual([ran.code, ran.out], [0, '1 record: 1 added, 0 changed, 0 unchanged\n'])
    assert.equal((await stored()).length, 2)
  })

  test('does the same for CSV, whose header the file repeats', async () => {
    const { own, write, run } = await openCase('csv')
    const header = `${csvHeader},metadata.note`
    const bad = `${anId(2)},northwind,main,ODD,${address},USD,ETHEREUM,,2026-01-05T09:30:00Z,"two
lines, ""quoted"""`
    const short = `${anId(3)},northwind`
    const path = write('in.csv', `${header}\r\n${bad}\r\n${csvRow(1)},\r\n${short}\r\n`)
    const ran = await run('import', 'deposit-addresses', path, '--on-error', 'skip')
    assert.match(ran.out, /^3 records: 1 added, 0 changed, 0 unchanged, 2 rejected/)
    const rejects = join(own, 'in.csv.rejects.csv')
    const rejected = readFileSync(rejects, 'utf8')
    const kept = rejected.split('\n').filter((line) => !line.startsWith('#~ '))
    assert.deepEqual(kept, [header, ...bad.split('\n'), short, ''])
    const corrected = rejected.replace('ODD', 'ETHEREUM').replace(`${short}\n`, `${csvRow(3)},\n`)
    writeFileSync(rejects, corrected.replaceAll(address, otherAddress))
    const again = await run('import', 'deposit-addresses', rejects)
    assert.deepEqual([again.err, again.code], ['', 0])
    const { out } = await run('export', 'deposit-addresses')
    assert.equal(out.includes('"note":"two\\nlines, \\"quoted\\""'), true, out)
  })

  test('counts blank rows, and warns of what is odd with its line', async () => {
    const { write, run } = await openCase('odd')
    const odd = csvRow(2).replace('main', '1234567890123450000').replace(address, otherAddress)
    const path = write('in.csv', `${csvHeader}\n${csvRow(1)}\n,,,,,,,,\n${odd}\n,,,,,,,,\n`)
    const ran = await run('import', 'deposit-addresses', path, '--expect', '2')
    assert.deepEqual(
      [ran.code, ran.out, ran.err.replaceAll(path, 'in.csv')],
      [
        0,
        '2 records: 2 added, 0 changed, 0 unchanged\n',
        'in.csv:4: warning: profile_id: has only zeros after its fifteenth digit, as spreadsheets write\nin.csv: 2 blank rows skipped\n',
      ],
    )
    const other = write(
      'other.csv',
      `${csvHeader}\n${odd.replace('450000', '4500000')}\n,,,,,,,,\n`,
    )
    const document = JSON.parse((await run('import', 'deposit-addresses', other, '--json')).out)
    const [{ blank_rows }] = document.files
    const [{ line, member }] = document.warnings
    assert.deepEqual([blank_rows, document.warning_count, line, member], [1, 1, 2, 'profile_id'])
  })

  test('rejects what conflicts with stored records, and what only then conflicts', async () => {
    const { own, write, run, stored } = await openCase('conflicts')
    const first = [account(1, { source_version: 5, ref_id: 'a' }), account(2, { ref_id: 'b' })]
    await run('import', 'fiat-accounts', write('first.ndjson', lines(first)))
    // Record 1 is older than the stored one. It keeps its ref_id, which record 3 then cannot have.
    const second = [
      account(1, { source_version: 4, ref_id: 'c' }),
      account(3, { ref_id: 'a' }),
      account(2, { customer_id: 'another', ref_id: 'b' }),
      account(4),
      account(4, { status: 'APPROVED' }),
    ]
    const path = write('second.ndjson', lines(second))
    const ran = await run('import', 'fiat-accounts', path, '--on-error', 'skip', '--json')
    const { added, rejected, records, files } = JSON.parse(ran.out)
    assert.deepEqual({ added, rejected, records }, { added: 1, rejected: 4, records: 5 })
    assert.equal(files[0].rejects, join(own, 'second.ndjson.rejects.ndjson'))
    const kept = readFileSync(files[0].rejects, 'utf8').split('\n')
    const notes = kept.filter((line) => line.startsWith('#~ line'))
    assert.deepEqual(notes.map((note) => note.slice(3)).toSorted(), [
      'line 1: source_version: is older than what is stored; --allow-older takes it all the same',
      'line 2: ref_id: is already the ref_id of another fiat account of this customer',
      `line 3: id: is held by the fiat account ${anId(2)} of customer 'acme'; --take-over withdraws that record`,
      'line 5: id: stands in line 4 too, with other content',
    ])
    const rejectedLines = kept.filter((line) => line.startsWith('{'))
    assert.deepEqual(
      rejectedLines.toSorted(),
      [0, 1, 2, 4].map((at) => JSON.stringify(second[at])).toSorted(),
    )
    assert.deepEqual((await stored()).map(({ id, ref_id }) => [id, ref_id]).toSorted(), [
      [anId(1), 'a'],
      [anId(2), 'b'],
      [anId(4), 'ref-4'],
    ])
    const { imports } = JSON.parse((await run('imports', '--json')).out)
    const [row] = imports
    assert.deepEqual(
      [row.state, row.records, row.added, row.unchanged, row.rejected],
      ['stored_in_part', 5, 1, 0, 4],
    )
  })

  const bad = account(2, { status: 'ODD' })
  const older = account(3, { source_version: 1 })
  const badRow = csvRow(2).replace('main,ETHEREUM', 'main,ODD')
  type Case = readonly [files: Readonly<Record<string, string | Buffer>>, kind?: string]
  const cases: Readonly<Record<string, Case>> = {
    'a file': [{ 'in.ndjson': lines([account(1), bad, older]) }],
    stdin: [{ '-': lines([account(1), bad, older]) }],
    gzip: [{ 'in.ndjson.gz': gzipSync(lines([account(1), bad, older])) }],
    CSV: [{ 'in.csv': [csvHeader, csvRow(1), badRow, badRow, ''].join('\n') }, 'deposit-addresses'],
    'several files': [{ 'a.ndjson': lines([account(1), older]), 'b.json': JSON.stringify([bad]) }],
    'records of which all are rejected': [{ 'in.ndjson': lines([bad, older]) }],
  }
  for (const [name, [files, kind = 'fiat-accounts']] of Object.entries(cases)) {
    test(`of ${name} exits with 3, or stores nothing beyond --rejects-max`, async () => {
      const { own, write, place, run } = await openCase(name)
      const seed = [account(3, { source_version: 2 })]
      await run('import', 'fiat-accounts', write('seed.ndjson', lines(seed)))
      const contents = async () => (await run('export', kind)).out
      const before = await contents()
      const paths = Object.entries(files).map(([file, content]) =>
        file === '-' ? file : write(file, content),
      )
      const skip = async (...words: readonly string[]) => {
        const given = ['import', kind, ...paths, '--on-error', 'skip', '--rejects', own, '--json']
        const ran = await runBursar(
          place.commandUrl,
          [...given, ...words],
          String(files['-'] ?? ''),
        )
        const { rejected, added, faults, files: each } = JSON.parse(ran.out)
        const written: string[] = each.flatMap(({ rejects = [] }) => rejects)
        const last = written.map((path) => readFileSync(path, 'utf8').split('\n').at(-2))
        for (const path of written) rmSync(path)
        const { imports } = JSON.parse((await run('imports', '--json')).out)
        const codes = faults.map(({ code }: { code: string }) => code)
        return { code: ran.code, rejected, added, codes, last: last[0], state: imports[0].state }
      }
      const refused = {
        code: 1,
        rejected: 2,
        added: 0,
        codes: ['too_many'],
        last: '#~ nothing was stored; correct the records and import all of them',
        state: 'refused',
      }
      // A dry run has no row, so the newest is that of the seed.
      const dry = { ...refused, state: 'stored' }
      assert.deepEqual(await skip('--rejects-max', '1', '--dry-run'), dry)
      assert.deepEqual(await skip('--rejects-max', '0'), refused)
      assert.deepEqual(await skip('--rejects-max', '1'), refused)
      assert.equal(await contents(), before)
      const added = name.startsWith('records') ? 0 : 1
      const checked = { ...refused, code: 3, added, codes: [] }
      assert.deepEqual(await skip('--rejects-max', '2', '--dry-run'), checked)
      assert.equal(await contents(), before)
      const last = '#~ the other records are stored; correct these and import this file'
      assert.deepEqual(await skip('--rejects-max', '2'), {
        ...checked,
        last,
        state: 'stored_in_part',
      })
    })
  }

  test('writes no file without a rejected record, and never over another file', async () => {
    const { own, write, run } = await openCase('no-file')
    const path = write('in.ndjson', lines([account(1)]))
    await run('import', 'fiat-accounts', path, '--on-error', 'skip')
    assert.deepEqual(readdirSync(own), ['in.ndjson'])
    write('in.ndjson.rejects.ndjson', 'mine')
    const ran = await run('import', 'fiat-accounts', path, '--on-error', 'skip')
    assert.equal(ran.code, 1)
    assert.match(ran.err, /already exists; move it away/)
    assert.equal(readFileSync(join(own, 'in.ndjson.rejects.ndjson'), 'utf8'), 'mine')
  })

  test('still refuses a file that cannot be read to its end, and leaves no rejects', async () => {
    const { own, write, run, stored } = await openCase('cut')
    const path = write('in.json', `[${JSON.stringify(account(1))}, {"id": 1},`)
    const ran = await run('import', 'fiat-accounts', path, '--on-error', 'skip')
    assert.equal(ran.code, 1)
    assert.match(ran.err, /has no end; is the file complete\?[\s\S]*nothing was changed/)
    assert.deepEqual(readdirSync(own), ['in.json'])
    assert.deepEqual(await stored(), [])
  })
})

describe('import of several files', () => {
  test('is one transaction, and its faults name the file and the line', async () => {
    const { write, run, stored } = await openCase('several')
    const one = write('one.ndjson', lines([account(1), account(2, { status: 'ODD' })]))
    const two = write('two.ndjson', lines([account(3), account(1, { status: 'APPROVED' })]))
    const ran = await run('import', 'fiat-accounts', one, two)
    assert.equal(ran.code, 1)
    assert.match(ran.err, /one\.ndjson:2: status: /)
    assert.match(
      ran.err,
      /two\.ndjson:2: id: stands in line 1 of one\.ndjson too, with other content/,
    )
    assert.match(ran.err, /2 files: 2 faults; nothing was changed/)
    assert.deepEqual(await stored(), [])
  })

  test('takes a pattern, and reports and journals each file', async () => {
    const { own, write, run } = await openCase('pattern')
    write('day-1.ndjson', lines([account(1), account(2)]))
    write('day-2.json', JSON.stringify([account(3)]))
    const ran = await run('import', 'fiat-accounts', join(own, 'day-*'), '--json')
    const { seconds, files, records, added, rejected } = JSON.parse(ran.out)
    assert.deepEqual({ records, added, rejected }, { records: 3, added: 3, rejected: 0 })
    assert.equal(typeof seconds, 'number')
    assert.deepEqual(
      files.map(({ records: each, sha256 }: { records: number; sha256: string }) => [
        each,
        sha256.length,
      ]),
      [
        [2, 64],
        [1, 64],
      ],
    )
    const { imports } = JSON.parse((await run('imports', '--json')).out)
    const [row, ...others] = imports
    assert.deepEqual([row.file, row.files, row.records, others], ['day-1.ndjson', 2, 3, []])
    const none = await run('import', 'fiat-accounts', join(own, 'night-*'))
    assert.match(none.err, /there is no such file/)
  })

  test('counts the records of all files for --expect, and refuses an empty one', async () => {
    const { write, run } = await openCase('expect')
    const files = [write('one.ndjson', lines([account(1)])), write('two.ndjson', '')]
    assert.match((await run('import', 'fiat-accounts', ...files)).err, /two\.ndjson: has no record/)
    const short = await run('import', 'fiat-accounts', ...files, '--expect', '2')
    assert.match(short.err, /has 1 record, and --expect says 2/)
    assert.equal((await run('import', 'fiat-accounts', ...files, '--expect', '1')).code, 0)
  })
})

describe('import', () => {
  test('reports faults of form and conflicts with stored records in one run', async () => {
    const { write, run, stored } = await openCase('together')
    const stays = account(1, { source_version: 5 })
    await run('import', 'fiat-accounts', write('first.ndjson', lines([stays])))
    const records = [account(1, { source_version: 4 }), account(2, { status: 'ODD' })]
    const ran = await run('import', 'fiat-accounts', write('in.ndjson', lines(records)))
    assert.match(ran.err, /in\.ndjson:1: source_version: is older[\s\S]*in\.ndjson:2: status: /)
    assert.equal((await stored()).length, 1)
  })

  test('reads a null of an optional member as an absent one', async () => {
    const { write, run, stored } = await openCase('null')
    const path = write('in.ndjson', lines([account(1, { ref_id: null, deleted_at: null })]))
    assert.equal((await run('import', 'fiat-accounts', path)).code, 0)
    assert.equal('ref_id' in (await stored())[0], false)
    const required = write('required.ndjson', lines([account(2, { status: null })]))
    assert.match(
      (await run('import', 'fiat-accounts', required)).err,
      /required\.ndjson:1: status: /,
    )
  })

  test('reads CSV with another delimiter and another word for null', async () => {
    const { write, run } = await openCase('delimiter')
    const row = csvRow(1).replace(',,', ',none,').replaceAll(',', ';')
    const path = write('in.csv', `${csvHeader.replaceAll(',', ';')}\n${row}\n`)
    const words = ['import', 'deposit-addresses', path, '--delimiter', ';']
    assert.equal((await run(...words, '--null', 'none')).code, 0)
    const { out } = await run('export', 'deposit-addresses')
    assert.equal('ref_id' in JSON.parse(out), false)
    const plain = await run('import', 'deposit-addresses', path)
    assert.match(plain.err, /cells must be separated by commas; --delimiter names another/)
  })

  test('refuses options that contradict each other', async () => {
    const wrong = [
      ['-', '-'],
      ['a.csv', 'b.csv', '--sha256', 'a'.repeat(64)],
      ['a.csv', '--rejects', '.'],
      ['a.csv', '--rejects-max', '2'],
      ['a.csv', '--delimiter', '::'],
      ['a.csv', '--on-error', 'ignore'],
    ]
    for (const words of wrong) {
      const ran = await runProgram(['import', 'fiat-accounts', ...words])
      assert.equal(ran.code, 2, words.join(' '))
    }
    assert.equal(existsSync('data'), false)
  })
})

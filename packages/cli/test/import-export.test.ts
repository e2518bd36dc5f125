import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openPlace, temporaryFolder } from '../../../test/support/harness.ts'
import { runProgram } from '../../../test/support/program.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { type Ran, runBursar } from '../../../test/support/run-bursar.ts'
import { testMasterKey, testStore } from '../../../test/support/test-database.ts'
import { until } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { worldRecords } from '../../sandbox/src/sample-records.ts'

const folder = temporaryFolder()
after(async () => {
  rmSync(folder, { recursive: true, force: true })
  for (const place of places.values()) await (await place).remove()
})
/** A store for each name, on the adapter of this test run. */
const places = new Map<string, ReturnType<typeof openPlace>>()
async function storeOf(name: string): Promise<string> {
  const place = places.get(name) ?? openPlace()
  places.set(name, place)
  return (await place).commandUrl
}
const lines = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')
const sha256Of = (content: string | Uint8Array) =>
  createHash('sha256').update(content).digest('hex')

describe('import', () => {
  test('imports NDJSON from standard input and prints the counts', async () => {
    const ran = await runProgram(['import', 'fiat-accounts', '-'], {
      env: { DATABASE_URL: await storeOf('stdin') },
      stdin: lines([aFiatAccount()]),
    })
    const output = '1 record: 1 added, 0 changed, 0 unchanged\n'
    assert.deepEqual(ran, { code: 0, output, errors: '' })
  })

  test('ends at 1,000 faults in each format, and says that there may be more', async () => {
    const url = await storeOf('faulty')
    await runBursar(url, ['migrate'])
    for (const [name, content] of [
      ['faulty.ndjson', '1\n'.repeat(3000)],
      ['faulty.json', `[${'1,'.repeat(3000)}1]`],
      ['faulty.csv', `id,status\n${'x\n'.repeat(3000)}`],
    ] as const) {
      const path = join(folder, name)
      writeFileSync(path, content)
      const words = ['import', 'fiat-accounts', path]
      const ran = await runBursar(url, words)
      const last = `${path}: at least 1000 faults; nothing was changed\n`
      assert.equal(ran.code, 1, name)
      assert.ok(ran.err.endsWith(`reading ended here; there may be more faults\n${last}`), ran.err)
      const document = JSON.parse((await runBursar(url, [...words, '--json'])).out)
      assert.deepEqual([document.more, document.fault_count, document.records], [true, 1000, 1000])
    }
  })

  test('prints one JSON document and nothing else with --json', async () => {
    const path = join(folder, 'one.ndjson.gz')
    writeFileSync(path, gzipSync(lines([aFiatAccount()])))
    // A dry run makes no store.
    await runBursar(await storeOf('json'), ['migrate'])
    const ran = await runBursar(await storeOf('json'), [
      'import',
      'fiat-accounts',
      path,
      '--json',
      '--dry-run',
    ])
    assert.equal(ran.code, 0)
    const { seconds, ...document } = JSON.parse(ran.out)
    assert.equal(typeof seconds, 'number')
    const sha256 = sha256Of(readFileSync(path))
    assert.deepEqual(document, {
      records: 1,
      added: 1,
      changed: 0,
      unchanged: 0,
      rejected: 0,
      withdrawn: 0,
      dry_run: true,
      files: [{ file: path, records: 1, rejected: 0, blank_rows: 0, sha256 }],
      fault_count: 0,
      faults: [],
      warning_count: 0,
      warnings: [],
    })
  })

  test('exits with 1 on a bad file, names file, line, member and reason, and changes nothing', async () => {
    const path = join(folder, 'bad.ndjson')
    writeFileSync(path, lines([aFiatAccount(), aFiatAccount({ id: anId(2), status: 'OPEN' })]))
    const ran = await runBursar(await storeOf('bad'), ['import', 'fiat-accounts', path])
    assert.deepEqual(ran, {
      code: 1,
      out: '',
      err: `${path}:2: status: must be PENDING, APPROVED or REJECTED\n${path}: 1 fault; nothing was changed\n`,
    })
    const exported = await runBursar(await storeOf('bad'), ['export', 'fiat-accounts'])
    assert.equal(exported.out, '')
  })

  test('imports a JSON array on one line', async () => {
    const path = join(folder, 'minified.json')
    writeFileSync(path, JSON.stringify([aFiatAccount(), aFiatAccount({ id: anId(2) })]))
    const ran = await runBursar(await storeOf('minified'), ['import', 'fiat-accounts', path])
    assert.deepEqual(ran, { code: 0, out: '2 records: 2 added, 0 changed, 0 unchanged\n', err: '' })
  })

  test('sets the customer of --customer and refuses another', async () => {
    const { customer_id: _left, ...anonymous } = aFiatAccount()
    const words = ['import', 'fiat-accounts', '-', '--customer', 'northwind']
    const taken = await runBursar(await storeOf('customer'), words, lines([anonymous]))
    assert.equal(taken.code, 0)
    const refused = await runBursar(await storeOf('customer'), words, lines([aFiatAccount()]))
    assert.equal(refused.code, 1)
    assert.match(refused.err, /stdin:1: customer_id: must be the customer that --customer names/)
  })

  test('refuses an input that is cut off at a line break, by its number of records or checksum', async () => {
    const whole = lines([aFiatAccount(), aFiatAccount({ id: anId(2) })])
    const cut = lines([aFiatAccount()])
    const sha256 = sha256Of(whole)
    const place = await storeOf('cut')
    const words = ['import', 'fiat-accounts', '-']
    const known = ['--expect', '2', '--sha256', sha256.toUpperCase()]
    assert.deepEqual(await runBursar(place, [...words, ...known], cut), {
      code: 1,
      out: '',
      err: [
        'stdin: has 1 record, and --expect says 2; is it complete?',
        `stdin: has the SHA-256 checksum ${sha256Of(cut)}, not the one of --sha256; is it complete?`,
        'stdin: 2 faults; nothing was changed\n',
      ].join('\n'),
    })
    assert.equal((await runBursar(place, ['export', 'fiat-accounts'])).out, '')
    const taken = await runBursar(place, [...words, ...known], whole)
    assert.equal(taken.out, '2 records: 2 added, 0 changed, 0 unchanged\n')
  })

  test('takes the checksum of a compressed file as it is, with the padding behind its end', async () => {
    const path = join(folder, 'padded.ndjson.gz')
    const file = Buffer.concat([gzipSync(lines([aFiatAccount()])), Buffer.alloc(3_000_000)])
    writeFileSync(path, file)
    const words = ['import', 'fiat-accounts', path, '--sha256', sha256Of(file)]
    const ran = await runBursar(await storeOf('padded'), words)
    assert.deepEqual(ran, { code: 0, out: '1 record: 1 added, 0 changed, 0 unchanged\n', err: '' })
  })

  test('refuses an input without a record unless --allow-empty or --expect 0 says so', async () => {
    const words = ['import', 'fiat-accounts', '-']
    assert.deepEqual(await runBursar(await storeOf('empty'), words, '\n'), {
      code: 1,
      out: '',
      err: 'stdin: has no record; if that is right, add --allow-empty\nstdin: 1 fault; nothing was changed\n',
    })
    for (const flags of [['--allow-empty'], ['--expect', '0']]) {
      const ran = await runBursar(await storeOf('empty'), [...words, ...flags])
      assert.equal(ran.out, '0 records: 0 added, 0 changed, 0 unchanged\n', flags.join(' '))
    }
  })

  test('ends when its input is silent for too long, and changes nothing', async () => {
    const place = await storeOf('silent')
    const input = new PassThrough()
    input.write(lines([aFiatAccount()]))
    const env = { BURSAR_IMPORT_SILENCE_SECONDS_MAX: '1' }
    using time = takeTime()
    let ended: Ran | undefined
    const ran = runBursar(place, ['import', 'fiat-accounts', '-'], input, env).then((result) => {
      ended = result
    })
    await until(() => input.listenerCount('data') > 0 && input.readableLength === 0)
    await time.advance(999)
    assert.equal(ended, undefined)
    // The time in which the importer works on the record does not count.
    await until(async () => {
      await time.advance(1)
      return ended !== undefined
    })
    await ran
    assert.deepEqual(ended, {
      code: 1,
      out: '',
      err: 'stdin: sent nothing for 1 second; does its writer hang? BURSAR_IMPORT_SILENCE_SECONDS_MAX allows more\nstdin: 1 fault; nothing was changed\n',
    })
  })

  for (const [what, words] of [
    ['a checksum of another length', ['import', 'fiat-accounts', '-', '--sha256', 'abc']],
    ['a number of records that is none', ['import', 'fiat-accounts', '-', '--expect', '1e3']],
    ['a kind that there is none of', ['import', 'accounts', '-']],
    ['no file', ['import', 'fiat-accounts']],
    ['an unknown flag', ['import', 'fiat-accounts', '-', '--force']],
    ['no command that there is', ['frobnicate']],
  ] as const) {
    test(`exits with 2 on wrong usage: ${what}`, async () => {
      assert.equal((await runBursar(await storeOf('usage'), words)).code, 2)
    })
  }

  test('exits with 1 on a missing file', async () => {
    const ran = await runBursar(await storeOf('none'), [
      'import',
      'statements',
      join(folder, 'no.csv'),
    ])
    assert.equal(ran.code, 1)
    assert.match(ran.err, /there is no such file/)
  })
})

test('a second export after import equals the first, byte for byte', async () => {
  const records = lines(worldRecords()['deposit-addresses'])
  await runBursar(await storeOf('first'), ['import', 'deposit-addresses', '-'], records)
  const exported = await runBursar(await storeOf('first'), ['export', 'deposit-addresses'])
  const taken = await runBursar(
    await storeOf('second'),
    ['import', 'deposit-addresses', '-'],
    exported.out,
  )
  assert.match(taken.out, /^1101 records: 1101 added/)
  const again = await runBursar(await storeOf('second'), ['export', 'deposit-addresses'])
  assert.equal(again.out, exported.out)
})

test('export --customer prints one customer’s records, --json one object, --array what import reads', async () => {
  await runBursar(
    await storeOf('two'),
    ['import', 'fiat-accounts', '-'],
    lines([aFiatAccount(), aFiatAccount({ id: anId(2), customer_id: 'borealis' })]),
  )
  const ran = await runBursar(await storeOf('two'), [
    'export',
    'fiat-accounts',
    '--customer',
    'borealis',
    '--json',
  ])
  const { records } = JSON.parse(ran.out)
  assert.deepEqual([records.length, records[0].id], [1, anId(2)])
  const array = await runBursar(await storeOf('two'), ['export', 'fiat-accounts', '--array'])
  const path = join(folder, 'array.json')
  writeFileSync(path, array.out)
  const again = await runBursar(await storeOf('two'), ['import', 'fiat-accounts', path])
  assert.equal(again.out, '2 records: 0 added, 0 changed, 2 unchanged\n')
  const none = await runBursar(await storeOf('two'), ['export', 'statements', '--json'])
  assert.deepEqual(JSON.parse(none.out), { records: [] })
})

test('control and format characters of a record and of a file name reach the terminal as escapes', async () => {
  const record = aFiatAccount({ metadata: { a: 'a\u009b2J\u202eb' } })
  const words = ['import', 'fiat-accounts', '-', '--json']
  const unknown = { ...record, 'x\u202e': 1 }
  const refused = await runBursar(await storeOf('controls'), words, lines([unknown]))
  await runBursar(await storeOf('controls'), words, lines([record]))
  const exported = await runBursar(await storeOf('controls'), ['export', 'fiat-accounts'])
  assert.deepEqual(JSON.parse(exported.out).metadata, record.metadata)
  const path = join(folder, 'a\u001b[2J.csv')
  const missing = await runBursar(await storeOf('controls'), ['import', 'statements', path])
  for (const { out, err } of [refused, exported, missing]) {
    assert.doesNotMatch(out + err, /(?!\n)[\p{Cc}\p{Cf}]/u)
  }
  assert.match(missing.err, /a\\u\{1b\}\[2J\.csv: there is no such file\n$/)
})

test('export exits with 0 when its reader closes the pipe', async () => {
  const records = Array.from({ length: 3000 }, (_, at) => aFiatAccount({ id: anId(at) }))
  await runBursar(await storeOf('many'), ['import', 'fiat-accounts', '-'], lines(records))
  const keyed = testStore === 'postgres' ? { BURSAR_MASTER_KEY: testMasterKey() } : {}
  const script = `"${process.execPath}" packages/cli/src/main.ts export fiat-accounts | head -1; exit "\${PIPESTATUS[0]}"`
  const shell = spawnSync('bash', ['-c', script], {
    env: { ...process.env, ...keyed, LOG_LEVEL: 'warn', DATABASE_URL: await storeOf('many') },
    encoding: 'utf8',
  })
  assert.deepEqual([shell.status, shell.stderr], [0, ''])
})

test('a store that cannot be opened is reported in one sentence', async () => {
  const ran = await runBursar('sqlite:README.md/bursar.db', ['migrate'])
  assert.equal(ran.code, 2)
  assert.match(ran.err, /^README.md\/bursar.db cannot be used for the store \(ENOTDIR\)[^\n]*\n$/)
})

test('import reports wrong configuration before it opens its file', async () => {
  const ran = await runBursar('mysql:no', ['import', 'statements', join(folder, 'missing.ndjson')])
  assert.equal(ran.code, 2)
  assert.match(ran.err, /^DATABASE_URL must start with sqlite: or postgres:/)
})

test('export does not create a store at a mistyped path', async () => {
  const path = join(folder, 'mistyped.db')
  const ran = await runBursar(`sqlite:${path}`, ['export', 'statements'])
  assert.equal(ran.code, 2)
  assert.equal(
    ran.err,
    `there is no store at ${path}; check DATABASE_URL and that its volume is mounted, or make a new store with \`bursar migrate\` or \`serve --create\`\n`,
  )
  assert.equal(existsSync(path), false)
})

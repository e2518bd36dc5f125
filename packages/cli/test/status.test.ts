import assert from 'node:assert/strict'
import { chmodSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { version } from '@bursar/base'
import { openPlace, type StoreLocation, startServiceAt } from '../../../test/support/harness.ts'
import { aFiatAccount } from '../../../test/support/records.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { execute } from '../../../test/support/test-database.ts'

let place: StoreLocation
before(async () => {
  place = await openPlace()
})
after(() => place.remove())

const run = (words: readonly string[], stdin = '') => runBursar(place.commandUrl, words, stdin)
const pathOf = ({ commandUrl }: StoreLocation) => commandUrl.replace('sqlite:', '')

/** The files of an embedded store, with their bytes. None on PostgreSQL. */
const filesOf = (): readonly unknown[] => {
  if (place.superuserUrl !== undefined) return []
  const folder = dirname(pathOf(place))
  const names = readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name))
  return names.map((name) => {
    const file = join(folder, name)
    return [name, statSync(file).mode, readFileSync(file).toString('base64')]
  })
}

test('status says before migrate what is missing, and makes nothing', async () => {
  const empty = await openPlace()
  try {
    if (empty.superuserUrl !== undefined) {
      await execute(empty.superuserUrl, 'drop schema bursar cascade')
    }
    const { code, out, err } = await runBursar(empty.commandUrl, ['status', '--json'])
    const document = JSON.parse(out)
    assert.deepEqual([code, document.usable, document.version], [1, false, version])
    assert.match(document.fault, /migrate/)
    assert.match(err, /^the store cannot be used as it is\n$/)
    if (empty.superuserUrl === undefined) assert.deepEqual(readdirSync(dirname(pathOf(empty))), [])
  } finally {
    await empty.remove()
  }
})

test('status names import, backup, recovery and sealing beside a server, and writes nothing', async () => {
  const service = await startServiceAt({ ...place, remove: async () => {} })
  try {
    await run(['import', 'fiat-accounts', '-'], `${JSON.stringify(aFiatAccount())}\n`)
    const before = filesOf()
    const { code, out, err } = await run(['status'])
    assert.deepEqual([code, err], [0, ''])
    const lines = out.trimEnd().split('\n')
    assert.ok(lines.length <= 10)
    const values = lines.map((line) => line.slice(line.indexOf(': ') + 2))
    assert.deepEqual(
      lines.map((line) => line.slice(0, line.indexOf(':'))),
      'version,store,schema,primary,last import,last backup,recovery,sealing left'.split(','),
    )
    assert.equal(values[0], version)
    assert.match(values[4] ?? '', /^\d{4}-\S+Z, 1 record of fiat-accounts$/)
    assert.deepEqual(values.slice(6), ['none', '0 records of 0 customers'])
    const document = JSON.parse((await run(['status', '--json'])).out)
    const { last_import: last, recovery, sealing_left: left, primary } = document
    assert.deepEqual([last.kind, last.records], ['fiat-accounts', 1])
    assert.deepEqual(recovery, { in_recovery: false, restored_to: null })
    assert.deepEqual(left, { customers: 0, records: 0 })
    assert.equal(primary === null, place.superuserUrl === undefined)
    const { password } = new URL(place.commandUrl)
    assert.ok(password === '' || !JSON.stringify(document).includes(password))
    assert.deepEqual(filesOf(), before)
  } finally {
    await service.stop()
  }
})

test('status shows a recovery, and names a file that others can read without a change', async () => {
  await run(['reconcile', '--restored-to', '2026-01-02T03:04:05Z'])
  assert.match((await run(['status'])).out, /\nrecovery: not ended, .* 2026-01-02T03:04:05.000Z\n/)
  if (place.superuserUrl !== undefined) return
  chmodSync(pathOf(place), 0o640)
  const { code, out } = await run(['status'])
  assert.equal(code, 1)
  assert.match(out, /\nfault: .*other users can read or write it/)
  assert.equal(statSync(pathOf(place)).mode & 0o777, 0o640)
  chmodSync(pathOf(place), 0o600)
  rmSync(pathOf(place).replace(/db$/, 'credentials.db'))
  assert.match((await run(['status'])).out, /\nfault: .*credentials.db is missing/)
})

test('status ends with 2 where the configuration is wrong', async () => {
  const { code, out } = await runBursar('postgres://', ['status'])
  assert.deepEqual([code, out], [2, ''])
})

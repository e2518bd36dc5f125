import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, type TestContext, test } from 'node:test'
import { waitMeanings } from '@bursar/contract'
import { openPlace, temporaryFolder } from '../../../test/support/harness.ts'
import { startProgram } from '../../../test/support/program.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { addressesOf, testStore } from '../../../test/support/test-database.ts'
import { untilHolds } from '../../../test/support/until.ts'
import { openConnection } from '../../postgres/src/driver/connection.ts'

const folder = temporaryFolder()
const places: Awaited<ReturnType<typeof openPlace>>[] = []
after(async () => {
  rmSync(folder, { recursive: true, force: true })
  for (const place of places) await place.remove()
})

const { username: user } = userInfo()

const lines = (count: number) =>
  Array.from({ length: count }, (_, at) => `${JSON.stringify(aFiatAccount({ id: anId(at) }))}\n`)

/** A new store, and what its registry lists. */
async function openCase() {
  const place = await openPlace()
  places.push(place)
  const run = (...words: readonly string[]) => runBursar(place.commandUrl, words)
  // PostgreSQL's database has its schema.
  if (testStore === 'sqlite') await run('migrate')
  return {
    url: place.commandUrl,
    run,
    /** Keeps every merge from beginning. Returns the function that ends this. */
    lock: async (): Promise<() => Promise<void>> => {
      const { commandUrl, superuserUrl } = place
      if (superuserUrl !== undefined) return lockCustomers(superuserUrl)
      const db = new DatabaseSync(commandUrl.replace('sqlite:', ''))
      db.exec('begin immediate')
      return async () => {
        if (db.isOpen) db.close()
      }
    },
    write: (name: string, content: string): string => {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    },
    listed: async (...words: readonly string[]) =>
      JSON.parse((await run('imports', '--json', ...words)).out).imports,
  }
}

async function lockCustomers(url: string): Promise<() => Promise<void>> {
  const [address = assert.fail()] = addressesOf(url)
  const session = openConnection(address, { parameters: {}, connectTimeoutMs: 60_000 })
  await session.execute('begin; lock table bursar.customer in exclusive mode')
  return async () => {
    if (!session.isBroken()) await session.close()
  }
}

type Case = Awaited<ReturnType<typeof openCase>>

/** An import whose standard input goes on, once another process sees it. */
async function startImport(context: TestContext, { url, listed }: Case) {
  const before = (await listed()).length
  const program = startProgram(['import', 'fiat-accounts', '-'], {
    env: { DATABASE_URL: url },
    stdin: lines(600).join(''),
    stdinStays: 'open',
  })
  context.after(() => program.kill('SIGKILL'))
  const isSeen = async () => (await listed()).length > before
  await untilHolds('another process sees the import', isSeen)
  const [found] = await listed()
  assert.equal(found.state, 'running')
  return { program, id: found.id }
}

describe('imports', () => {
  test('lists imports by the command, refused ones too, and no dry runs', async () => {
    const { run, write, listed } = await openCase()
    const [first = '', second = ''] = lines(2)
    const path = write('a.ndjson', first)
    const other = write('b.ndjson', second)
    await run('import', 'fiat-accounts', path, other, '--customer', 'acme')
    await run('import', 'fiat-accounts', path, '--customer', 'acme', '--dry-run')
    await run('import', 'fiat-accounts', write('c.ndjson', '{"SECRET":1}\n'))
    const [refused, stored, ...others] = await listed()
    assert.deepEqual(others, [])
    const file = { kind: 'fiat-accounts', command: 'import', user, file: 'a.ndjson' }
    const counts = { rejected: 0, withdrawn: 0 }
    const times = ['id', 'started_at', 'ended_at', 'role']
    const timeless = (entry: object) =>
      Object.fromEntries(Object.entries(entry).filter(([name]) => !times.includes(name)))
    assert.deepEqual(timeless(stored), {
      ...file,
      files: 2,
      customer_id: 'acme',
      state: 'stored',
      records: 2,
      added: 2,
      changed: 0,
      unchanged: 0,
      ...counts,
    })
    assert.deepEqual([refused.state, refused.file], ['refused', 'c.ndjson'])
    assert.doesNotMatch(JSON.stringify(refused), /SECRET/)
    const table = await run('imports', '--state', 'stored')
    const role = stored.role === undefined ? '' : `, role ${stored.role}`
    assert.deepEqual(table, {
      code: 0,
      out: `${stored.started_at.slice(0, 23)}Z  ${stored.id}  fiat-accounts  stored  2 records: 2 added, 0 changed, 0 unchanged  a.ndjson and 1 other file by ${user}${role} for acme\n`,
      err: '',
    })
    for (const file of [path, other]) {
      assert.deepEqual(await listed('--file', file), [stored])
    }
    const [unknown, both] = [
      await run('imports', '--file', write('d.ndjson', 'never imported')),
      await run('imports', '--file', path, '--state', 'stored'),
    ]
    assert.deepEqual([unknown.code, both.code], [1, 2])
    assert.match(unknown.err, /^No import that is known was of .*d\.ndjson\.$/m)
    assert.equal((await run('imports', '--file', join(folder, 'none'))).code, 1)
    assert.equal((await listed('--limit', '2')).length, 2)
    assert.deepEqual(await listed('--kind', 'statements'), [])
    assert.equal((await run('imports', '--limit', '0')).code, 2)
  })

  test('cancel ends an import of another process, which says so and changes nothing', async (t) => {
    const opened = await openCase()
    const { run, listed } = opened
    const { program, id } = await startImport(t, opened)
    const asked = await run('imports', 'cancel', id)
    const told = `${id} was asked to end. It stores nothing, unless its merge has ended.\n`
    assert.deepEqual(asked, { code: 0, out: told, err: '' })
    assert.equal(await program.ended, 1)
    assert.match(program.errors(), /^the import was cancelled; nothing was changed$/m)
    const [found] = await listed()
    assert.deepEqual(
      [found.id, found.state, found.reason],
      [id, 'cancelled', 'the import was cancelled; nothing was changed'],
    )
    assert.equal((await run('export', 'fiat-accounts')).out, '')
    assert.deepEqual(await run('imports', 'cancel', id), {
      code: 1,
      out: '',
      err: `The import ${id} has ended: it is cancelled.\n`,
    })
  })

  test('says what an import waits for, and cancel ends one that has begun', async (t) => {
    const opened = await openCase()
    const { run, listed, url } = opened
    const unlock = await opened.lock()
    t.after(unlock)
    const program = startProgram(['import', 'fiat-accounts', '-'], {
      env: { DATABASE_URL: url },
      stdin: lines(2).join(''),
    })
    t.after(() => program.kill('SIGKILL'))
    const lock = testStore === 'postgres' ? 'customer_lock' : 'store_lock'
    await untilHolds('the command says for what', async () =>
      program.errors().includes(`waiting: ${waitMeanings[lock]}\n`),
    )
    // The lock of the embedded store keeps its row from being written too.
    if (testStore === 'sqlite') await unlock()
    else {
      const [{ id }] = await listed('--state', 'running')
      assert.equal((await run('imports', 'cancel', id)).code, 0)
    }
    assert.equal(await program.ended, testStore === 'sqlite' ? 0 : 1)
    await unlock()
    const state = testStore === 'sqlite' ? 'stored' : 'cancelled'
    assert.equal((await listed())[0].state, state)
    const stored = (await run('export', 'fiat-accounts')).out.split('\n').length - 1
    assert.equal(stored, testStore === 'sqlite' ? 2 : 0)
  })

  test('shows that a killed import is lost, and a signal that ended another', async (t) => {
    const opened = await openCase()
    const killed = await startImport(t, opened)
    await killed.program.kill('SIGKILL')
    // PostgreSQL notices within milliseconds that the session has ended.
    await untilHolds('it is lost', async () => (await opened.listed())[0].state === 'lost')
    const [lost] = await opened.listed()
    assert.equal(lost.id, killed.id)
    const stopped = await startImport(t, opened)
    assert.equal(await stopped.program.kill('SIGTERM'), 143)
    const [found] = await opened.listed()
    assert.deepEqual(
      [found.state, found.reason],
      ['cancelled', 'stopped by SIGTERM; nothing was changed'],
    )
  })

  test('cancel says that an id is unknown, or is none', async () => {
    const { run } = await openCase()
    const unknown = await run('imports', 'cancel', anId(1))
    assert.deepEqual(unknown, { code: 1, out: '', err: `There is no import ${anId(1)}.\n` })
    assert.equal((await run('imports', 'cancel', '7')).code, 2)
  })
})

import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openLog, systemTime } from '@bursar/base'
import { StoreServed } from '@bursar/records'
import { createStore, openOperatorStores, openServiceStores } from '@bursar/server/stores'
import { configOf, temporaryFolder } from '../../../test/support/harness.ts'

const depsOf = (path: string) => ({
  config: configOf({ DATABASE_URL: `sqlite:${path}` }),
  clock: systemTime.now,
  log: openLog('silent'),
})

async function newStore(): Promise<string> {
  const path = join(temporaryFolder(), 'bursar.db')
  await createStore(depsOf(path))
  return path
}

/** Serves a store until the test ends, or until what it returns is called. */
async function serve(t: TestContext, path: string) {
  const stores = await openServiceStores(depsOf(path))
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= stores.close()
    return closing
  }
  t.after(close)
  return close
}

test('an embedded store has one server, and the next one when that has ended', async (t) => {
  const path = await newStore()
  const end = await serve(t, path)
  await assert.rejects(openServiceStores(depsOf(path)), {
    constructor: StoreServed,
    message: `another process serves the store at ${path}, and an embedded store has one server; end that one, or move to PostgreSQL, which several processes can serve (docs/scaling.md)`,
  })
  await end()
  await serve(t, path)
})

test('an embedded store has one server by whatever path it is named', async (t) => {
  const path = await newStore()
  await serve(t, path)
  const other = join(temporaryFolder(), 'linked')
  mkdirSync(other)
  for (const file of ['bursar.db', 'bursar.credentials.db']) {
    symlinkSync(join(path, '..', file), join(other, file))
  }
  const folder = join(temporaryFolder(), 'data')
  symlinkSync(join(path, '..'), folder)
  for (const named of [join(other, 'bursar.db'), join(folder, 'bursar.db')]) {
    await assert.rejects(openServiceStores(depsOf(named)), StoreServed, named)
  }
})

test('commands, and what only looks, work beside the server', async (t) => {
  const path = await newStore()
  await serve(t, path)
  for (const open of [
    openOperatorStores,
    (deps: ReturnType<typeof depsOf>) => openServiceStores(deps, 'beside'),
  ]) {
    const beside = await open(depsOf(path))
    assert.deepEqual(await beside.credentials().listClients(), [])
    await beside.close()
  }
})

test('what is left of the lock file keeps no server from starting', async (t) => {
  const path = await newStore()
  const end = await serve(t, path)
  await end()
  rmSync(path.replace(/db$/, 'server-lock'))
  await serve(t, path)
})

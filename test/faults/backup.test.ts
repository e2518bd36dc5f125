import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readdirSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ConfigError, openLog, systemRandom, systemTime } from '@bursar/base'
import { createSampleClient } from '@bursar/oauth'
import { createStore, openOperatorStores, type Stores } from '@bursar/server/stores'
import { configOf, temporaryFolder } from '../support/harness.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { resourceOf, take } from '../support/record-store.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'
import { send, statusOf } from './support/client.ts'
import { askForToken, secretOf, serve, tokenOf } from './support/cluster.ts'

/** Backups of a store that a server and an importer use, and restores that are killed. */

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))
const envOf = (name: string) => ({ DATABASE_URL: `sqlite:${join(folder, `${name}.db`)}` })
const openStores = async (name: string): Promise<Stores> => {
  const config = configOf(envOf(name))
  const sources = { config, clock: systemTime.now, log: openLog('silent') }
  await createStore(sources)
  return await openOperatorStores(sources)
}

const inRecovery =
  'every token is revoked, no client gets one, and no restored fee can be consumed, until the erasures since are repeated and the store is reconciled; run `npm run -s bursar -- reconcile`'

/** Enough that copying the records takes longer than adding a few clients. */
const stored = 20_000
let stores: Stores
before(async () => {
  stores = await openStores('live')
  const accounts = Array.from({ length: stored }, (_, at) => account(at))
  assert.equal((await take(stores.records(), 'fiat-accounts', accounts)).added, stored)
})

const account = (at: number) => aFiatAccount({ id: anId(at + 1), ref_id: `ref-${at}` })

/** Adds a client, then a record, in turn. At each moment there are as many clients, or one more. */
function startWriter() {
  let isOver = false
  let written = 0
  let slowestMs = 0
  const store = stores.credentials()
  const timed = async (work: () => Promise<unknown>) => {
    const startedAt = performance.now()
    await work()
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
  }
  const loop = async () => {
    const keyring = await stores.keyring(store)
    const deps = { store, keyring, clock: systemTime.now, random: systemRandom }
    const scopes = ['transfer:read_fiat_account']
    for (let at = 0; !isOver; at += 1) {
      const id = `client_${at}`
      const client = { id, secret: secretOf(id), customerId: 'acme', name: id, scopes }
      await timed(() => createSampleClient(deps, client))
      await timed(() => take(stores.records(), 'fiat-accounts', [account(stored + at)]))
      written = at + 1
      // Lets the child's output in.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const ended = loop()
  return {
    untilWritten: (count: number) =>
      untilHolds(`${count} records are written`, () => written >= count),
    stop: async () => {
      isOver = true
      await ended
      return slowestMs
    },
  }
}

async function countsOf(name: string) {
  const opened = await openStores(name)
  try {
    const records = await opened.records().operator.count(resourceOf('fiat-accounts'))
    const clients = await opened.credentials().listClients()
    return { added: records - stored, clients: clients.length }
  } finally {
    await opened.close()
  }
}

test('a backup while a server reads and an import writes is of one moment, and is served', async (t) => {
  const live = await serve(envOf('live'))
  t.after(() => live.program.kill('SIGKILL'))
  const writer = startWriter()
  t.after(writer.stop)
  const archive = join(folder, 'backup.tar.gz')
  await writer.untilWritten(3)
  const { code, errors } = await runProgram(['backup', archive], { env: envOf('live') })
  const slowestMs = await writer.stop()
  assert.equal(code, 0, errors)

  copyFileSync(join(folder, 'live.master-key'), join(folder, 'copy.master-key'))
  const restored = await runProgram(['restore', archive], { env: envOf('copy') })
  assert.deepEqual([restored.code, restored.errors], [0, `${inRecovery}\n`])
  const { added, clients } = await countsOf('copy')
  t.diagnostic(`${clients} clients, ${added} records added; slowest write ${slowestMs} ms`)
  assert.ok(clients > 0 && (clients === added || clients === added + 1), `${clients}, ${added}`)
  const written = await countsOf('live')
  assert.ok(written.clients > clients + 1, 'nothing was written during the backup')

  const server = await serve(envOf('copy'))
  t.after(() => server.program.kill('SIGKILL'))
  assert.equal(statusOf(await askForToken(server.url, 'client_0')), 503)
  const disabled = ['client', 'disable', 'client_1']
  const noErasures = ['reconcile', '--erasures', '/dev/null', '--yes']
  for (const words of [disabled, noErasures, ['reconcile', '--reconciled']]) {
    assert.equal((await runProgram(words, { env: envOf('copy') })).code, 0, words.join(' '))
  }
  await untilHolds(
    'the running server has seen the end of the recovery',
    async () => statusOf(await askForToken(server.url, 'client_0')) === 200,
  )
  assert.equal(statusOf(await askForToken(server.url, 'client_1')), 401)
  const token = await tokenOf(server.url, 'client_0')
  const answer = await send(server.url, `/v2/transfer/fiat-accounts/${anId(1)}`, { token })
  assert.equal(statusOf(answer), 200)
  const refused = await runProgram(['restore', archive, '--replace'], { env: envOf('copy') })
  assert.equal(refused.code, 1)
  assert.match(refused.errors, /another process uses the store/)
})

test('a restore that is killed leaves the old store, the new one, or none until it is repeated', async (t) => {
  const archive = join(folder, 'backup.tar.gz')
  const outcomes: string[] = []
  // The last to close a store empties its WAL, so that its files can be copied.
  await stores.close()
  const old = await countsOf('live')
  // Moments of the kill. What is promised holds for each of them.
  for (const delayMs of [0, 0, 20]) {
    for (const ending of ['db', 'credentials.db', 'master-key']) {
      rmSync(join(folder, `old.${ending}`), { force: true })
      copyFileSync(join(folder, `live.${ending}`), join(folder, `old.${ending}`))
    }
    for (const name of readdirSync(folder)) {
      if (name.endsWith('.restoring')) rmSync(join(folder, name))
    }
    const program = startProgram(['restore', archive, '--replace'], { env: envOf('old') })
    const watcher = watch(folder, (_event, name) => {
      if (!name?.endsWith('.restoring')) return
      setTimeout(() => program.process.kill('SIGKILL'), delayMs)
    })
    await program.ended
    watcher.close()
    const found = await countsOf('old').catch((error: unknown) => error)
    if (found instanceof ConfigError) {
      assert.match(found.message, /is being restored, or its restore was interrupted/)
      outcomes.push('closed')
    } else {
      const isOld = JSON.stringify(found) === JSON.stringify(old)
      if (!isOld) assert.deepEqual(found, await countsOf('copy'))
      outcomes.push(isOld ? 'old' : 'new')
    }
  }
  t.diagnostic(outcomes.join(', '))
  const repeated = await runProgram(['restore', archive, '--replace'], { env: envOf('old') })
  assert.deepEqual([repeated.code, repeated.errors], [0, `${inRecovery}\n`])
  assert.deepEqual(await countsOf('old'), await countsOf('copy'))
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('.restoring')),
    [],
  )
})

test('Ctrl-C during a backup leaves no archive and no copies', async () => {
  const target = join(folder, 'interrupted')
  mkdirSync(target)
  const words = ['backup', join(target, 'backup.tar')]
  const program = startProgram(words, { env: envOf('live') })
  const watcher = watch(target, (_event, name) => {
    if (name?.startsWith('.bursar-backup-')) program.process.kill('SIGINT')
  })
  const code = await program.ended
  // An open watcher would keep a failed test from ending.
  watcher.close()
  assert.equal(code, 130, program.errors())
  assert.deepEqual(readdirSync(target), [])
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLog, systemRandom, systemTime } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { createSampleClient } from '@bursar/oauth'
import { openOperatorStores } from '@bursar/server/stores'
import { migratePostgres } from '../../packages/postgres/src/schema/migrate.ts'
import { aQuote, aWithdrawal } from '../../packages/records/test/support/quotes.ts'
import { configOf, temporaryFolder } from '../support/harness.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { runProgram } from '../support/program.ts'
import { take } from '../support/record-store.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { openQuotesAt } from '../support/store-place.ts'
import { addressesOf, roles } from '../support/test-database.ts'
import { untilHolds } from '../support/until.ts'
import { askServer } from './support/ask-server.ts'
import { send, statusOf } from './support/client.ts'
import { askForToken, secretOf, serve, tokenOf, untilTokens } from './support/cluster.ts'
import { blockWith, documentedWords } from './support/running-document.ts'

/** A dump of PostgreSQL, made and restored by the lines of docs/running.md, and served. */

const database = 'bursar'
/** Runs a command of the document against a server of this test. */
function runDocumented(text: string, server: PostgresServer, folder: string, user?: string) {
  const line = blockWith(text)
    .replace(/host=db\d/, `host=127.0.0.1 port=${server.port}`)
    .replace('sslmode=verify-full', 'sslmode=disable')
    .replace(/user=\w+/, (given) => (user === undefined ? given : `user=${user}`))
  const { status, stderr } = spawnSync('bash', ['-c', line], { cwd: folder, encoding: 'utf8' })
  return { status, stderr }
}

async function newCluster(): Promise<PostgresServer> {
  const server = await startPostgres({ version: 'debian' })
  // The server trusts local logins, and psql's own commands ask for passwords.
  const sql = blockWith('create role bursar_owner').replaceAll(/^(?:--|\\).*\n/gm, '')
  for (const statement of sql.split(';\n').filter(Boolean)) {
    await askServer(server, statement, 'postgres')
  }
  return server
}

const masterKey = randomBytes(32).toString('base64')
const envOf = (server: PostgresServer) => ({
  DATABASE_URL: server.url('bursar', database),
  OPERATOR_DATABASE_URL: server.url('bursar_operator', database),
  BURSAR_MASTER_KEY: masterKey,
  BURSAR_PUBLIC_URL: 'https://api.example.com',
  LOG_LEVEL: 'warn',
})
const openStores = (server: PostgresServer) =>
  openOperatorStores({
    config: configOf(envOf(server)),
    clock: systemTime.now,
    log: openLog('silent'),
  })

/** A database with a record, a client and a fee quote, on a cluster that was promoted six times. */
async function fill(server: PostgresServer): Promise<void> {
  await migratePostgres(addressesOf(server.url('bursar_owner', database)), roles)
  const stores = await openStores(server)
  await take(stores.records(), 'fiat-accounts', [aFiatAccount()])
  const store = stores.credentials()
  const keyring = await stores.keyring(store)
  const scopes = ['transfer:read_fiat_account']
  await createSampleClient(
    { store, keyring, clock: systemTime.now, random: systemRandom },
    { id: 'ash', secret: secretOf('ash'), customerId: 'acme', name: 'ash', scopes },
  )
  await stores.close()
  const quotes = await openQuotesAt(server.url('bursar', database), systemTime.now)
  await quotes.customers.issue(asTenant('acme'), aQuote(), 1000)
  await quotes.close()
  // No trigger may correct it: in the cluster that was dumped, it was true.
  const sql = 'set session_replication_role = replica; update bursar.lineage set timeline = 7'
  await askServer(server, sql, database)
}

async function reconcile(server: PostgresServer, words: readonly string[]) {
  const { code, output, errors } = await runProgram([...words, '--json'], { env: envOf(server) })
  assert.equal(code, 0, errors)
  const { in_recovery, clients_confirmed_at } = JSON.parse(output)
  return [code, in_recovery, clients_confirmed_at && 'confirmed']
}

/** What `doctor` says of the objects of the schema. */
async function schemaFindings(server: PostgresServer): Promise<string> {
  const { output } = await runProgram(['doctor'], { env: envOf(server) })
  return output
    .split('\n')
    .filter((line) => /^(schema|roles|row-security): /.test(line))
    .join('\n')
}

/** Follows the recovery of the document while the server runs. */
async function consumeAfterTheDump(target: PostgresServer, url: string): Promise<void> {
  const stores = await openStores(target)
  const consume = (over = {}) => stores.quotes().operator.consume(aWithdrawal(over))
  assert.equal((await consume()).outcome, 'unreconciled')
  assert.equal(statusOf(await askForToken(url, 'ash')), 503)
  // No customer was erased after the dump, so the list is empty.
  await reconcile(target, ['reconcile', '--erasures', '/dev/null', '--yes'])
  const confirmed = await reconcile(target, documentedWords('reconcile --clients-confirmed'))
  assert.deepEqual(confirmed, [0, true, 'confirmed'])
  await untilTokens([url])
  assert.equal((await consume()).outcome, 'unreconciled')
  const ended = await reconcile(target, documentedWords('reconcile --reconciled'))
  assert.deepEqual(ended, [0, false, 'confirmed'])
  assert.equal((await consume()).outcome, 'consumed')
  await stores.close()
}

test('a dump as bursar_backup restores on a new cluster, is served, and its standby answers', async (t) => {
  const folder = temporaryFolder()
  const source = await newCluster()
  t.after(source.stop)
  await fill(source)
  const [backupRole = ''] = blockWith('create role bursar_backup').split(/;\n(?=grant)/)
  await askServer(source, backupRole, 'postgres')
  await askServer(source, 'grant pg_read_all_data to bursar_backup', 'postgres')
  assert.deepEqual(runDocumented('pg_dump', source, folder), { status: 0, stderr: '' })
  assert.ok(existsSync(join(folder, 'bursar.dump')))
  await source.stop()

  const target = await newCluster()
  t.after(target.stop)
  assert.deepEqual(runDocumented('pg_restore', target, folder), { status: 0, stderr: '' })
  assert.match(await schemaFindings(target), /made by another version of PostgreSQL, or in another/)
  await migratePostgres(addressesOf(target.url('bursar_owner', database)), roles)
  assert.equal(await schemaFindings(target), '')
  assert.deepEqual(await reconcile(target, documentedWords('--restored-to')), [0, true, null])
  const standby = await target.addStandby('one')
  t.after(standby.stop)
  const server = await serve({
    ...envOf(target),
    DATABASE_READ_URLS: standby.url('bursar', database),
  })
  t.after(() => server.program.kill('SIGKILL'))
  await consumeAfterTheDump(target, server.url)
  const token = await tokenOf(server.url, 'ash')
  const path = `/v2/transfer/fiat-accounts/${anId(1)}`
  const answer = await send(server.url, path, { token })
  assert.equal(statusOf(answer), 200)
  await target.kill('SIGKILL')
  await untilHolds(
    'the standby answers',
    async () => statusOf(await send(server.url, path, { token })) === 200,
  )
})

test('a dump as the owner fails, with row-level security enabled too', async (t) => {
  const folder = temporaryFolder()
  const source = await newCluster()
  t.after(source.stop)
  await fill(source)
  const { status, stderr } = runDocumented('pg_dump', source, folder, 'bursar_owner')
  assert.equal(status, 1)
  assert.match(stderr, /query would be affected by row-level security policy/)
  const url = source.url('bursar_owner', database)
  const words = ['--enable-row-security', '--file=/dev/null', url]
  for (const table of ['fiat_account', 'fiat_account_full', 'fee_quote']) {
    const dump = spawnSync('pg_dump', [...words, `--table=bursar.${table}`], { encoding: 'utf8' })
    assert.equal(dump.status, 1, table)
    assert.match(dump.stderr, /row-level security hides these rows from the owner/, table)
  }
})

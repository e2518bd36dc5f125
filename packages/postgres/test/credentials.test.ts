import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { openLog, openVault, Secret, systemRandom, type WrappedKey } from '@bursar/base'
import { type Client, type CredentialStore, StoreUnavailable } from '@bursar/records'
import { delayReplay } from '../../../test/support/delay-replay.ts'
import { openPlace, startServiceAt } from '../../../test/support/harness.ts'
import { startPostgres } from '../../../test/support/postgres-server.ts'
import { stoppedJobs } from '../../../test/support/stopped-jobs.ts'
import { sealMark, storeDisabled } from '../../../test/support/store-disabled.ts'
import { newStorePlace, openTestServers, operatorUrl } from '../../../test/support/store-place.ts'
import { openTestDatabase } from '../../../test/support/test-database.ts'
import { until } from '../../../test/support/until.ts'
import { openCredentialCache } from '../../oauth/src/tokens/credential-cache.ts'
import {
  askAt,
  connectTo,
  onPostgres,
  prepareOwn,
} from '../../records/test/support/postgres-world.ts'
import { openPostgresCredentials } from '../src/open-postgres-credentials.ts'

const client: Client = {
  id: 'client_acme',
  customerId: 'acme',
  boundTo: null,
  name: 'Acme treasury',
  scopes: ['transfer:read_fiat_account'],
  method: { kind: 'secret' },
  createdAt: 1n,
  notBefore: 0n,
  disabledAt: undefined,
  lastUsedAt: undefined,
  seal: 'of-the-program',
}

const keyOf = (id: string): WrappedKey => ({
  id,
  purpose: 'cursor',
  wrapped: 'wrapped',
  masterId: 'master',
  createdAt: 1n,
  activeFrom: 1n,
  revokedAt: undefined,
})

/** In the year 2100, which is in the future by any clock. */
const later = 4_102_444_800_000_000n

/** Counts the notifications of a store. */
function changesOf(context: TestContext, store: CredentialStore) {
  let count = 0
  const stop = store.onChange(() => {
    count += 1
  })
  context.after(stop)
  return { count: () => count, stop }
}

const terminateListening = `select count(pg_terminate_backend(pid)) from pg_stat_activity
  where datname = current_database() and query like 'listen %'`

onPostgres('the roles and the credential tables', () => {
  async function newDatabase(context: TestContext) {
    const database = await openTestDatabase()
    context.after(database.drop)
    const place = { app: database.url, operator: database.operatorUrl }
    return { ...database, place }
  }
  const refused = { code: '42501' }

  test('the app may update last_used_at of a client, the hash of a secret and nothing else', async (t) => {
    const { place, ask } = await newDatabase(t)
    await ask(
      `insert into bursar.client (id, name, scopes, method, created_at, not_before, seal)
       values ('c', 'n', '', 'secret', 1, 0, '')`,
    )
    await askAt(place.app, `update bursar.client set last_used_at = 5 where id = 'c'`)
    assert.deepEqual(await ask('select last_used_at from bursar.client'), [['5']])
    for (const forbidden of [
      `update bursar.client set disabled_at = null`,
      `update bursar.client set customer_id = 'borealis'`,
      `update bursar.client set not_before = 0`,
      `delete from bursar.client`,
      `insert into bursar.client (id, name, scopes, method, created_at, not_before, seal)
       values ('d', 'n', '', 'secret', 1, 0, '')`,
      `insert into bursar.client_secret (client_id, id, hash, created_at) values ('c', 's', 'h', 1)`,
      `update bursar.client_secret set id = 's'`,
      `update bursar.denied_token set expires_at = 0`,
      `update bursar.purpose_key set revoked_at = null`,
      `delete from bursar.purpose_key`,
      `delete from bursar.credential_revision`,
      `insert into bursar.recovery values (1, 1, 1, 1, 1, 1)`,
      `update bursar.recovery set reconciled_at = 1`,
      `delete from bursar.recovery`,
      `alter table bursar.denied_token disable row level security`,
    ]) {
      await assert.rejects(askAt(place.app, forbidden), refused, forbidden)
    }
  })

  test('the app cannot delete a refused token or a used assertion before it expires', async (t) => {
    const { place, ask } = await newDatabase(t)
    for (const table of [
      'denied_token (jti, expires_at)',
      'used_assertion (jti, expires_at, client_id)',
    ]) {
      const [name] = table.split(' ')
      const rest = name === 'denied_token' ? '' : `, 'c'`
      await askAt(
        place.app,
        `insert into bursar.${table} values ('old', 1${rest}), ('new', ${later}${rest})`,
      )
      assert.deepEqual(await askAt(place.app, `delete from bursar.${name} returning jti`), [
        ['old'],
      ])
      assert.deepEqual(await ask(`select jti from bursar.${name}`), [['new']])
    }
  })

  test('the database stamps a change with its revision, whatever program made it', async (t) => {
    const place = await newStorePlace(t)
    const store = await place.openCredentials('server')
    await (await place.openCredentials()).addClient(client, undefined, sealMark)
    const since = await store.revision()
    await place.ask('update bursar.credential_revision set value = value + 1')
    await place.ask(`insert into bursar.denied_token values ('old', ${later})`)
    await place.ask(`update bursar.client set disabled_at = 5 where id = '${client.id}'`)
    const { isComplete, clients, deniedTokens } = await store.readStates(1n, since)
    assert.equal(isComplete, false)
    assert.deepEqual(deniedTokens, [{ jti: 'old', expiresAt: later }])
    assert.deepEqual(
      clients.map(({ mark: _mark, ...row }) => row),
      [{ ...client, disabledAt: 5n }],
    )
    const seen = await store.revision()
    await store.recordUse(client.id, undefined, 9n)
    await place.ask('update bursar.credential_revision set value = value + 1')
    assert.deepEqual((await store.readStates(1n, seen)).clients, [])
  })

  test('no role can set the revision or the timeline back, or add a key of an unknown purpose', async (t) => {
    const { place, ask } = await newDatabase(t)
    const broken = { code: '23514' }
    await ask('update bursar.credential_revision set value = value + 1')
    for (const url of [place.app, place.operator]) {
      for (const forbidden of [
        'update bursar.credential_revision set value = value - 1',
        'update bursar.credential_revision set value = value + 2',
        'update bursar.lineage set timeline = timeline + 7',
        'update bursar.lineage set timeline = -1',
        `insert into bursar.purpose_key (id, purpose, wrapped, master_id, created_at, active_from)
          values ('k', 'backdoor', 'w', 'm', 1, 1)`,
      ]) {
        await assert.rejects(askAt(url, forbidden), broken, forbidden)
      }
    }
  })

  test('the app may add the first key of a purpose, only the operator another', async (t) => {
    const place = await newStorePlace(t)
    const server = await place.openCredentials('server')
    const command = await place.openCredentials()
    assert.equal(await server.addPurposeKey(keyOf('k1'), 'if-none'), true)
    assert.equal(await server.addPurposeKey(keyOf('k2'), 'if-none'), false)
    await assert.rejects(server.addPurposeKey(keyOf('k3'), 'beside'), /refused: 42501/)
    assert.equal(await command.addPurposeKey(keyOf('k4'), 'instead'), true)
    const held = await server.readPurposeKeys()
    assert.deepEqual(held, [{ ...keyOf('k1'), revokedAt: 1n }, keyOf('k4')])
  })
})

onPostgres('several processes', () => {
  test('add the first key of a purpose at once: one of them succeeds', async (t) => {
    const place = await newStorePlace(t)
    const stores = await Promise.all(
      Array.from({ length: 6 }, () => place.openCredentials('server')),
    )
    const added = await Promise.all(
      stores.map((store, at) => store.addPurposeKey(keyOf(`k${at}`), 'if-none')),
    )
    assert.equal(added.filter((isAdded) => isAdded).length, 1)
    assert.equal((await stores[0]?.readPurposeKeys())?.length, 1)
  })

  test('are notified of a change within a second, without polling', async (t) => {
    const place = await newStorePlace(t)
    const [server, command] = [await place.openCredentials('server'), await place.openCredentials()]
    const clock = () => 1n
    const masters = {
      masterKey: new Secret(Buffer.alloc(32, 7).toString('base64')),
      previousMasterKey: undefined,
    }
    const keyring = await openVault({
      store: server,
      ...masters,
      keyFile: undefined,
      clock,
      random: systemRandom,
    })
    const log = openLog('silent')
    const background = stoppedJobs()
    const states = await openCredentialCache({
      store: server,
      keyring,
      clock,
      log,
      background,
      ageSecondsMax: 60,
    })
    t.after(states.close)
    const listens = () =>
      place.ask(
        `select count(*) from pg_stat_activity where query like 'listen %' and datname = current_database()`,
      )
    await until(async () => (await listens())[0]?.[0] === '1')
    for (let round = 0; round < 5; round += 1) {
      await command.denyToken(`jti-${round}`, later, 1n)
      await until(() => states.current().deniedTokens.has(`jti-${round}`))
    }
    states.close()
    await until(async () => (await listens())[0]?.[0] === '0')
  })

  test('are notified once of several fast changes, and of the last one', async (t) => {
    const place = await newStorePlace(t)
    const [server, command] = [await place.openCredentials('server'), await place.openCredentials()]
    const changes = changesOf(t, server)
    await until(() => changes.count() === 1)
    let revisionHeard = 0n
    t.after(
      server.onChange(
        () =>
          void server.revision().then((revision) => {
            revisionHeard = revision
          }),
      ),
    )
    for (let round = 0; round < 40; round += 1) await command.denyToken(`jti-${round}`, later, 1n)
    const last = await command.revision()
    await until(() => revisionHeard === last)
    assert.ok(changes.count() < 40, `${changes.count()} notifications of 40 changes`)
  })

  test('listen again after the server has ended their session', async (t) => {
    const place = await newStorePlace(t)
    const [server, command] = [await place.openCredentials('server'), await place.openCredentials()]
    const changes = changesOf(t, server)
    await until(() => changes.count() === 1)
    for (let round = 2; round < 6; round += 2) {
      assert.deepEqual(await place.ask(terminateListening), [['1']])
      await until(() => changes.count() === round)
      await command.denyToken('jti', later, 1n)
      await until(() => changes.count() === round + 1)
    }
    changes.stop()
    await command.denyToken('jti', later, 1n)
    assert.equal(changes.count(), 5)
  })

  test('exit once the store is closed', async (t) => {
    const place = await newStorePlace(t)
    const file = new URL('../../records/test/support/listening-process.ts', import.meta.url)
      .pathname
    const child = spawn(process.execPath, [file, place.where], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    const [code] = await once(child, 'exit')
    assert.equal(code, 0)
  })
})

onPostgres('a standby', () => {
  test('serves the refresh while no primary answers, unless it is behind; after a promotion it is listened to', {
    timeout: 120_000,
  }, async (t) => {
    const primary = await startPostgres()
    t.after(primary.stop)
    const { url, ask } = await prepareOwn(primary)
    const standby = await primary.addStandby('standby')
    t.after(standby.stop)
    const askStandby = (sql: string) => askAt(standby.url('postgres', 'bursar_template'), sql)
    const both = url.replace(`:${primary.port}`, `:${primary.port},127.0.0.1:${standby.port}`)
    const toStandby = standby.url('bursar', 'bursar_template')
    const openAs = async (role: (url: string) => string) => {
      const servers = await openTestServers(role(both), { standby: role(toStandby) })
      const store = openPostgresCredentials(servers)
      t.after(async () => {
        await store.close()
        await servers.close()
      })
      return store
    }
    const [server, command] = [await openAs((same) => same), await openAs(operatorUrl)]
    const fresh = await openAs((same) => same)
    await command.addClient(client, undefined, sealMark)
    const first = await server.readStates(1n)
    await until(async () => {
      const [[sent], [replayed]] = [
        await ask('select pg_current_wal_lsn()'),
        await askStandby('select pg_last_wal_replay_lsn()'),
      ]
      return sent?.[0] === replayed?.[0]
    })
    await delayReplay(askStandby, '1h')
    await storeDisabled(command, client.id, 5n, 5n)
    const second = await server.revision()
    assert.ok(second > first.revision)
    const [[written]] = (await ask('select pg_current_wal_flush_lsn()')) as [[string]]
    await until(
      async () => (await askStandby('select pg_last_wal_receive_lsn()'))[0]?.[0] === written,
    )
    const changes = changesOf(t, server)
    await until(() => changes.count() === 1)
    await primary.kill('SIGKILL')

    const behind = (error: unknown) =>
      error instanceof StoreUnavailable && /behind what has been seen/.test(error.message)
    await until(() => server.revision().then(() => false, behind))
    await assert.rejects(server.readStates(1n), behind)
    await assert.rejects(server.readPurposeKeys(), behind)
    await assert.rejects(server.findClient(client.id), { name: 'StoreUnavailable' })
    // A process that has seen no newer revision accepts the standby's.
    await until(() =>
      fresh.revision().then(
        (revision) => revision === first.revision,
        () => false,
      ),
    )

    await delayReplay(askStandby, '0')
    await until(async () => (await fresh.revision()) === second)
    const states = await server.readStates(1n)
    assert.deepEqual([states.revision, states.clients[0]?.disabledAt], [second, 5n])
    await assert.rejects(server.findClient(client.id), { name: 'StoreUnavailable' })
    await assert.rejects(command.denyToken('jti', later, 1n), { name: 'StoreUnavailable' })

    const heard = changes.count()
    await askStandby('select pg_promote()')
    await until(() => changes.count() > heard)
    const listensThere = `select count(*) from pg_stat_activity where query like 'listen %'`
    await until(async () => Number((await askStandby(listensThere))[0]?.[0]) >= 1)
    assert.ok((await server.revision()) > second, 'another timeline is another revision')
    const before = changes.count()
    await until(() =>
      command.denyToken('jti', later, 1n).then(
        () => true,
        () => false,
      ),
    )
    await until(() => changes.count() > before)
  })
})

onPostgres('logins that wait for the database', () => {
  test('take no session from readers of records', async (t) => {
    const place = await openPlace('postgres', true)
    const service = await startServiceAt(place, {
      store: 'postgres',
      // Two statements look up the clients of all logins. They would need each of these.
      env: { BURSAR_DATABASE_CONNECTIONS_MAX: '2', BURSAR_DATABASE_TIMEOUT_MS: '10000' },
    })
    t.after(service.stop)
    const page = async () => (await service.call('/v2/transfer/fiat-accounts?limit=1')).status
    assert.equal(await page(), 200)
    const countOf = async (rows: string) =>
      Number((await askAt(place.superuserUrl ?? '', `select count(*) from ${rows}`))[0]?.[0])
    const holder = connectTo(place.superuserUrl ?? '')
    t.after(() => holder.close())
    await holder.execute('begin; lock table bursar.client_secret in access exclusive mode')
    const locks = "pg_locks where relation = 'bursar.client_secret'::regclass"
    const login = (client: string) =>
      service.call('/oauth2/token', {
        as: null,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `grant_type=client_credentials&client_id=${client}&client_secret=x`,
      })
    const logins = Promise.all(Array.from({ length: 50 }, (_, at) => login(`client_${at}`)))
    const waiting = () => countOf(`${locks} and not granted`)
    await until(async () => (await waiting()) === 2)
    for (let count = 0; count < 5; count += 1) assert.equal(await page(), 200, `page ${count}`)
    assert.equal(await waiting(), 2, 'the pages waited for the logins')
    await holder.execute('commit')
    await logins
  })
})

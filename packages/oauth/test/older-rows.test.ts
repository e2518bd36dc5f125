import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '@bursar/base'
import { behindTheBack } from '../../../test/support/audit.ts'
import type { StorePlace } from '../../../test/support/store-place.ts'
import { testStore } from '../../../test/support/test-database.ts'
import { keyChecks } from '../../cli/src/doctor/key-checks.ts'
import { markSealer } from '../src/clients/client-seal.ts'
import { createClient, disableClient, rotateClient, updateClient } from '../src/clients/clients.ts'
import { assertAccepted, assertRefused } from './support/assert-checked.ts'
import { acme, oauthWorld } from './support/oauth-world.ts'
import { nameOf, runPast as run } from './support/past-the-program.ts'

/** Somebody who writes to the tables past the program puts older rows back. */

const isPostgres = testStore === 'postgres'
const [clients, secrets] = [nameOf('client'), nameOf('client_secret')]

const keepRows = (place: StorePlace) =>
  run(
    place,
    `create table ${nameOf('old_client')} as select * from ${clients}`,
    `create table ${nameOf('old_secret')} as select * from ${secrets}`,
  )

const columns = ['name', 'scopes', 'not_before', 'disabled_at', 'seal']

const putRowsBack = (place: StorePlace) =>
  run(
    place,
    `update ${clients} set ${columns.map((column) => `${column} = old.${column}`).join(', ')}
      from ${nameOf('old_client')} as old where old.id = client.id`,
    `delete from ${secrets}`,
    `insert into ${secrets} ${isPostgres ? 'overriding system value ' : ''}select * from ${nameOf('old_secret')}`,
  )

type World = Awaited<ReturnType<typeof oauthWorld>>

/** What doctor finds of clients, or by another check. */
async function findings({ command, clock }: World, check = 'clients'): Promise<readonly string[]> {
  const { store: credentials, keyring } = command
  const openKeyring = async () => keyring
  const checks = keyChecks({
    config: loadConfig({ env: {} }),
    clock,
    using: (work) => work({ credentials, openKeyring }),
  })
  const found = await checks.find(({ name }) => name === check)?.find()
  return (found ?? []).map(({ what }) => what).filter((what) => !what.includes('of a sandbox'))
}

const older =
  'the client client_acme was not stored by this program, or was changed by another one, or an older state of it was put back'

const changes: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  disabled: ({ command }) => disableClient(command, acme.id),
  'with another secret': ({ command }) => rotateClient(command, acme.id, { previousDays: 0 }),
  'with another secret beside': ({ command }) =>
    rotateClient(command, acme.id, { previousDays: 1 }),
  'with fewer scopes': ({ command }) =>
    updateClient(command, acme.id, { scopes: ['statements:read_statement'] }),
  'whose tokens have ended': ({ command }) =>
    command.store.changeClient(
      acme.id,
      (client) => ({ ...client, notBefore: 2_000_000_000_000_000n }),
      markSealer(command.keyring),
    ),
}

for (const [what, change] of Object.entries(changes)) {
  test(`the older row of a client ${what} is refused, and can be disabled`, async (t) => {
    const world = await oauthWorld(t)
    const { command, oauth, token, place } = world
    const { access_token } = (await token()).body
    await keepRows(place)
    await change(world)
    await oauth.refresh()
    assert.deepEqual(await findings(world), [])
    await putRowsBack(place)
    // As a server does that starts.
    await oauth.reload()
    assert.equal((await token()).status, 401)
    if (!what.startsWith('with another secret')) {
      assertRefused(await oauth.checkToken(access_token))
    }
    assert.deepEqual(await findings(world), [older])
    assert.ok('refused' in (await rotateClient(command, acme.id, { previousDays: 0 })))
    assert.ok(!('refused' in (await disableClient(command, acme.id))))
    assert.deepEqual(await findings(world), [])
    assert.equal((await token()).status, 401)
  })
}

test('a row that nobody knows the last change of is refused', async (t) => {
  const world = await oauthWorld(t)
  const made = await createClient(world.command, {
    customerId: 'acme',
    name: 'Second',
    scopes: undefined,
    method: { kind: 'secret' },
  })
  assert.ok('client' in made && made.secret !== undefined)
  const form = { client_id: made.client.id, client_secret: made.secret.reveal() }
  assert.equal((await world.token(form)).status, 200)
  const marks = isPostgres ? 'bursar_audit.client_mark' : 'audit_client_mark'
  await run(world.place, `delete from ${marks} where client_id = '${made.client.id}'`)
  assert.equal((await world.token(form)).status, 401)
  for (const values of [`9, 0, 'x', 'y', 'z'`, `8, 0, 'a b', 'c d', ''`]) {
    await run(world.place, `insert into ${marks} values ('${made.client.id}', ${values})`)
    assert.equal((await world.token(form)).status, 401)
  }
})

test('a restore that ends every token does not refuse the clients', async (t) => {
  const world = await oauthWorld(t)
  const { store } = world.command
  const at = world.clock()
  await store.startRecovery({ restoredTo: at, restoredAt: at, quotesBefore: at }, at + 5_000_000n)
  await store.confirmClients(at)
  await world.oauth.reload()
  assert.equal((await world.token()).status, 200)
  assert.deepEqual(await findings(world), [])
})

test('a revoked token stays revoked when its row is deleted', async (t) => {
  const world = await oauthWorld(t)
  const { oauth, token, post, place } = world
  const [kept, ended] = [(await token()).body, (await token()).body].map(
    ({ access_token }) => access_token,
  )
  const credentials = { client_id: acme.id, client_secret: acme.secret }
  assert.equal((await post('/oauth2/revoke', { token: ended, ...credentials })).status, 200)
  await run(place, `delete from ${nameOf('denied_token')}`)
  await oauth.reload()
  assertRefused(await oauth.checkToken(ended))
  assertAccepted(await oauth.checkToken(kept))
  assert.deepEqual(await findings(world), ['1 token was revoked, and no row says so any more'])
})

test('a revoked signing key stays revoked when its row says so no more', async (t) => {
  const world = await oauthWorld(t)
  const { oauth, token, command, place } = world
  const { access_token } = (await token()).body
  const old = command.keyring.current('token-signing').id
  await command.keyring.rotate('token-signing', { revokeOthers: true })
  await oauth.refresh()
  assertRefused(await oauth.checkToken(access_token))
  await run(place, `update ${nameOf('purpose_key')} set revoked_at = null where id = '${old}'`)
  await oauth.reload()
  assertRefused(await oauth.checkToken(access_token))
  assert.equal((await token()).status, 200)
  assert.deepEqual(await findings(world), [
    `the key ${old} was revoked, and its row says so no more`,
  ])
})

test('what audit prune leaves of the marks still tells the last row of a client', async (t) => {
  const world = await oauthWorld(t)
  const { command, token, place } = world
  for (const name of ['One', 'Two']) await updateClient(command, acme.id, { name })
  await behindTheBack(place, async ({ reader, session }) => {
    await reader.forgetMarks(world.clock())
    const table = isPostgres ? 'bursar_audit.client_mark' : 'audit_client_mark'
    const left = await session.rows({
      text: `select number from ${table} where client_id = '${acme.id}'`,
    })
    assert.deepEqual(
      left.map(({ number }) => number),
      [3n],
    )
  })
  assert.equal((await token()).status, 200)
  assert.deepEqual(await findings(world), [])
})

test('doctor finds a key that was renewed, but under which things are still accepted', async (t) => {
  const world = await oauthWorld(t)
  const { keyring } = world.command
  const { id } = keyring.current('client-row')
  assert.deepEqual(await findings(world, 'keys'), [])
  await keyring.rotate('client-row', { revokeOthers: false })
  world.clock.advance(6)
  const [found, ...others] = await findings(world, 'keys')
  assert.match(String(found), /^1 key of the store was renewed, and what is under the old one/)
  assert.deepEqual(others, [])
  await keyring.retire([id])
  assert.deepEqual(await findings(world, 'keys'), [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBackground } from '@bursar/base'
import type { Client } from '@bursar/records'
import { pino } from 'pino'
import { sealMark } from '../../../test/support/store-disabled.ts'
import { isSealed, markSealer } from '../src/clients/client-seal.ts'
import { createClient, rotateClient, updateClient } from '../src/clients/clients.ts'
import { openCredentialCache } from '../src/tokens/credential-cache.ts'
import { assertAccepted, assertRefused } from './support/assert-checked.ts'
import { acme, oauthWorld } from './support/oauth-world.ts'

/** A stranger who can write to the database, but has no key of the store. */
const strangers: readonly ((client: Client) => Client)[] = [
  (client) => ({ ...client, scopes: [...client.scopes, 'quotes:read_issuer_quote_execution'] }),
  (client) => ({ ...client, name: 'Another name' }),
  (client) => ({ ...client, disabledAt: 1n }),
  (client) => ({ ...client, seal: '' }),
  (client) => ({ ...client, seal: client.seal.replace(/^v1/, 'v2') }),
  (client) => ({ ...client, seal: client.seal.slice(0, -2) }),
]

for (const [at, change] of strangers.entries()) {
  test(`a client that somebody changed past the program is refused (${at + 1})`, async (t) => {
    const { command, oauth, token } = await oauthWorld(t)
    const { access_token } = (await token()).body
    assertAccepted(await oauth.checkToken(access_token))
    await command.store.changeClient(acme.id, change, markSealer(command.keyring))
    await oauth.refresh()
    assertRefused(await oauth.checkToken(access_token))
    const again = await token()
    assert.deepEqual([again.status, again.body.error], [401, 'invalid_client'])
    const sealedAgain = await updateClient(command, acme.id, { name: 'Acme' })
    assert.ok('refused' in sealedAgain)
    assert.ok('refused' in (await rotateClient(command, acme.id, { previousDays: 0 })))
  })
}

test('a client that somebody has added is refused, and one line of the log says so', async (t) => {
  const { command, clock } = await oauthWorld(t)
  const { store, keyring } = command
  const known = await store.findClient(acme.id)
  assert.ok(known !== undefined)
  const { secrets: _secrets, ...row } = known
  for (let at = 0; at < 30; at += 1) {
    await store.addClient({ ...row, id: `stranger_${at}` }, undefined, sealMark)
  }
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(line) })
  const background = openBackground()
  const cache = await openCredentialCache({
    store,
    keyring,
    clock,
    log,
    background,
    ageSecondsMax: 60,
  })
  t.after(cache.close)
  const { clients } = cache.current()
  assert.deepEqual([clients.has(acme.id), clients.has('stranger_0')], [true, false])
  assert.equal(lines.length, 1)
  const line = JSON.parse(lines[0] ?? '')
  assert.equal(line.count, 30)
  assert.equal(line.clients.length, 10)
  assert.match(line.msg, /^a client was not stored by this program/)
})

test('the hash of a secret is of no use in the row of another client', async (t) => {
  const { command, token } = await oauthWorld(t)
  const wanted = { customerId: 'mallory', name: 'Mallory', scopes: undefined } as const
  const made = await createClient(command, { ...wanted, method: { kind: 'secret' } })
  assert.ok('client' in made && made.secret !== undefined)
  const client_secret = made.secret.reveal()
  assert.equal((await token({ client_id: made.client.id, client_secret })).status, 200)
  const own = (await command.store.findClient(made.client.id))?.secrets[0]
  assert.ok(own !== undefined)
  const rotation = {
    secret: { ...own, id: 'secret_moved' },
    previousUntil: undefined,
    notBefore: undefined,
  }
  await command.store.rotateSecret(acme.id, rotation, markSealer(command.keyring))
  assert.equal((await token({ client_id: acme.id, client_secret })).status, 401)
})

test('an update changes name and scopes of a client, and keeps its secret and its seal', async (t) => {
  const { command, oauth, token } = await oauthWorld(t)
  const { access_token } = (await token()).body
  const scopes = ['transfer:read_fiat_account']
  const updated = await updateClient(command, acme.id, { name: 'Acme, Zurich', scopes })
  assert.ok(!('refused' in updated))
  assert.deepEqual([updated.name, updated.scopes], ['Acme, Zurich', scopes])
  assert.ok(isSealed(updated, command.keyring))
  await oauth.refresh()
  const caller = await oauth.checkToken(access_token)
  assert.ok(typeof caller !== 'string')
  assert.deepEqual([...caller.scopes], scopes, 'a token from before loses the other scopes')
  assert.equal((await token()).status, 200)
  for (const refused of [['statements:write'], []]) {
    assert.ok('refused' in (await updateClient(command, acme.id, { scopes: refused })))
  }
  assert.ok('refused' in (await updateClient(command, 'nobody', { name: 'Nobody' })))
})

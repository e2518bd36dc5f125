import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { describe, test } from 'node:test'
import { attempt, limitNamed } from '@bursar/base'
import { spoolFolderOf } from '@bursar/records'
import { addCustomerClient } from '../../../../test/support/customer-client.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import type { Called } from '../../../../test/support/harness.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'
import { runBursar } from '../../../../test/support/run-bursar.ts'
import { until } from '../../../../test/support/until.ts'
import { takeTime } from '../../../../test/support/virtual-time.ts'
import { writersOf } from '../../../../test/support/writer-processes.ts'
import { markSealer } from '../../../oauth/src/clients/client-seal.ts'

/** A right ends for what is under way too: waiting readers and streams. */

const service = describeService()

const now = () => service.parts.clock()
type Change = Parameters<typeof service.parts.credentials.changeClient>[1]

/** What ends the rights of a client, or of its one token, in this process's store. */
const endings: Readonly<Record<string, (clientId: string, token: string) => Promise<unknown>>> = {
  'is disabled': (clientId) => change(clientId, (client) => ({ ...client, disabledAt: now() })),
  'loses its tokens': (clientId) =>
    change(clientId, (client) => ({ ...client, notBefore: now() + 60_000_000n })),
  // By a command: on PostgreSQL the role of a server may not revoke a key.
  'has its signing key revoked': async () => {
    const revoked = await runBursar(service.place.commandUrl, ['keys', 'rotate', '--revoke'])
    assert.equal(revoked.code, 0, revoked.err)
  },
  'loses the scope': (clientId) => change(clientId, (client) => ({ ...client, scopes: [] })),
  'has its token revoked': async (clientId, token) => {
    const form = { token, client_id: clientId, client_secret: `${clientId}_secret` }
    const body = new URLSearchParams(form).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const revoked = await service.call('/oauth2/revoke', {
      as: null,
      method: 'POST',
      body,
      headers,
    })
    assert.equal(revoked.status, 200, revoked.text)
  },
}

const change = (clientId: string, by: Change) =>
  service.parts.credentials.changeClient(clientId, by, markSealer(service.parts.keyring))

const assertRefused = ({ status, body }: Called) =>
  assert.deepEqual(
    [status, body.detail],
    [401, 'the access token is invalid or revoked; get a new one'],
  )

const read = '/v2/events'
const post = '/ingest/v1/fiat-accounts'

/** The id of a client with its token. */
async function readerOf(what: string): Promise<{ clientId: string; token: string }> {
  const clientId = `reader ${what}`.replaceAll(' ', '-')
  const clientSecret = `${clientId}_secret`
  const customer = { customerId: clientId, clientId, clientSecret }
  await addCustomerClient(service, customer)
  return { clientId, token: await service.tokenOf(customer) }
}

/** A stream is received into a file of this process. */
const filesReceived = () => {
  const folder = spoolFolderOf(service.parts.config)
  const names = attempt(() => readdirSync(folder)) ?? []
  return names.filter((name) => name.startsWith(`${process.pid}-`)).length
}

const runningImports = () => {
  const every = { kind: undefined, ofClientsOf: undefined, after: undefined, importsMax: 50 }
  return service.parts.store.imports.list({ ...every, state: 'running' })
}

for (const [what, end] of Object.entries(endings)) {
  describe(`a client that ${what}`, () => {
    test('is answered 401 while it waits for events', async () => {
      const { clientId, token } = await readerOf(what)
      using time = takeTime()
      const waiting = service.call(`${read}?wait=30`, { token })
      await until(() => service.parts.store.customers.changes.waiting() === 1)
      await time.advance(limitNamed('rightCheckedMs'))
      assert.equal(service.parts.store.customers.changes.waiting(), 1, 'it has its rights')
      await end(clientId, token)
      await service.parts.oauth.refresh()
      await time.advance(limitNamed('rightCheckedMs'))
      assertRefused(await waiting)
    })

    test('stores nothing of a stream that it sends', async () => {
      const clientId = `sender-${what}`.replaceAll(' ', '-')
      const scopes = ['ingest:write_fiat_accounts']
      const token = await operatorToken(service, clientId, scopes)
      using time = takeTime()
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
      const sending = request(`${service.url}${post}`, { method: 'POST', headers })
      sending.on('error', () => {})
      const status = new Promise((resolve) => {
        sending.on('response', (answer) => resolve(answer.resume().statusCode))
      })
      // A first piece is kept in memory.
      const line = `${JSON.stringify(aFiatAccount({ id: anId(700) }))}\n`
      sending.write(line.repeat(2 * Math.ceil(limitNamed('spoolPieceBytes') / line.length)))
      await until(() => filesReceived() === 1)
      await end(clientId, token)
      await service.parts.oauth.refresh()
      await time.advance(limitNamed('rightCheckedMs'))
      assert.equal(await status, 401)
      sending.destroy()
    })

    test('has no stream committed, if it is stored at that moment', async () => {
      const clientId = `storer-${what}`.replaceAll(' ', '-')
      const token = await operatorToken(service, clientId, ['ingest:write_fiat_accounts'])
      const send = (at: number) =>
        service.call(post, {
          method: 'POST',
          token,
          body: JSON.stringify(aFiatAccount({ id: anId(at) })),
        })
      assert.equal((await send(800)).status, 200)
      const [pid = 0] = writersOf()
      using time = takeTime()
      process.kill(pid, 'SIGSTOP')
      const storing = send(801)
      await until(async () => (await runningImports()).length === 1)
      await end(clientId, token)
      await service.parts.oauth.refresh()
      await time.advance(limitNamed('rightCheckedMs'))
      assertRefused(await storing)
      const looking = await operatorToken(service, `looker-${clientId}`, ['ingest:read_record'])
      assert.equal((await service.call(`${post}/${anId(801)}`, { token: looking })).status, 404)
    })
  })
}

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemTime } from '@bursar/base'
import { disableClient } from '@bursar/oauth'
import { decodeJwt } from 'jose'
import { acme, oauthWorld } from '../../packages/oauth/test/support/oauth-world.ts'
import { startProcess } from '../../packages/oauth/test/support/process.ts'
import { untilHolds } from '../support/until.ts'

/** Two servers and one command on the same store. */
async function twoServers(context: TestContext) {
  const world = await oauthWorld(context, { clock: systemTime.now })
  const words = [world.place.where, world.keyFile]
  const server = await startProcess(context, './server-process.ts', words)
  const form = { grant_type: 'client_credentials', client_id: acme.id, client_secret: acme.secret }
  const post = (path: string, body: Record<string, string>) =>
    fetch(server.url + path, { method: 'POST', body: new URLSearchParams({ ...form, ...body }) })
  const token = async (): Promise<string> => {
    const answer = await post('/oauth2/token', {})
    return JSON.parse(await answer.text()).access_token
  }
  const whoAmI = async (bearer: string) => {
    const headers = { authorization: `Bearer ${bearer}` }
    return (await fetch(`${server.url}/who-am-i`, { headers })).status
  }
  /** Returns the seconds until the server refuses the token. */
  const secondsUntilRefused = async (bearer: string) => {
    const began = performance.now()
    await untilHolds('the token is refused', async () => {
      const status = await whoAmI(bearer)
      assert([200, 401].includes(status), `answered ${status}`)
      return status === 401
    })
    return (performance.now() - began) / 1000
  }
  return { ...world, server, post, token, whoAmI, secondsUntilRefused, words }
}

test('a disabled client, a revoked token and a revoked key are refused by a running server', async (t) => {
  const { command, secondsUntilRefused, token, whoAmI } = await twoServers(t)
  const [first, second] = [await token(), await token()]
  assert.deepEqual([await whoAmI(first), await whoAmI(second)], [200, 200])
  const { jti = '', exp = 0 } = decodeJwt(first)
  await command.store.denyToken(jti, BigInt(exp) * 1_000_000n, systemTime.now())
  const denied = await secondsUntilRefused(first)
  assert.equal(await whoAmI(second), 200)

  await command.keyring.rotate('token-signing', { revokeOthers: true })
  const revoked = await secondsUntilRefused(second)
  const third = await token()
  assert.equal(await whoAmI(third), 200)

  await disableClient(command, acme.id)
  const disabled = await secondsUntilRefused(third)
  t.diagnostic(`refused after ${[denied, revoked, disabled].map((s) => s.toFixed(1)).join(', ')} s`)
})

test('loses no acknowledged change when it is killed, and reopens without faults', async (t) => {
  const { place, post, server, token } = await twoServers(t)
  const revoked: string[] = []
  const busy = async () => {
    for (;;) {
      const bearer = await token()
      const answer = await post('/oauth2/revoke', { token: bearer })
      if (answer.status === 200) revoked.push(String(decodeJwt(bearer).jti))
      if (revoked.length === 20) void server.kill()
    }
  }
  await Promise.allSettled([busy(), busy(), busy(), busy()])
  assert(revoked.length >= 20)
  const store = await place.openCredentials()
  assert.deepEqual(await store.integrityFaults(), [])
  const { deniedTokens } = await store.readStates(systemTime.now())
  const held = new Set(deniedTokens.map(({ jti }) => jti))
  assert.deepEqual(
    revoked.filter((jti) => !held.has(jti)),
    [],
  )
})

test('a second server on the same store accepts the same clients and opens the same keys', async (t) => {
  const { token, url, server } = await twoServers(t)
  const own = JSON.parse(await (await fetch(`${server.url}/.well-known/jwks.json`)).text())
  const other = JSON.parse(await (await fetch(`${url}/.well-known/jwks.json`)).text())
  assert.deepEqual(own, other)
  assert.equal(decodeJwt(await token()).client_id, acme.id)
})

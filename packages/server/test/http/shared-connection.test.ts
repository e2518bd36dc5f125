import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, borealis } from '../../../../test/support/harness.ts'
import { rawRequest } from '../../../../test/support/raw-request.ts'

const service = describeService()

const path = '/v2/transfer/fiat-accounts?limit=1'

test('each request of a connection is answered to its own token', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const connected = t.mock.method(agent, 'createConnection')
  const call = (headers: readonly string[], to = path) =>
    rawRequest(service.url, to, { agent, headers })
  const bearer = (token: string) => ['authorization', `Bearer ${token}`]
  const firstOf = async (token: string) => {
    const { status, text } = await call(bearer(token))
    assert.equal(status, 200, text)
    return JSON.parse(text).items[0]?.id
  }
  const [one, other] = [await service.tokenOf(acme), await service.tokenOf(borealis)]
  const found = [await firstOf(one), await firstOf(one), await firstOf(other), await firstOf(one)]
  assert.match(String(found[0]), /[0-9a-f]{8}-/)
  assert.deepEqual([found[1], found[3]], [found[0], found[0]])
  assert.notEqual(found[2], found[0])

  const refused = {
    'without a header': [],
    'sent twice': [...bearer(one), ...bearer(one)],
    'with more behind it': bearer(`${one} x`),
    'without its last character': bearer(one.slice(0, -1)),
    'with another scheme': ['authorization', `Basic ${one}`],
  }
  for (const [name, headers] of Object.entries(refused)) {
    assert.equal((await call(headers)).status, 401, name)
    assert.equal(await firstOf(one), found[0], name)
  }
  assert.equal((await call(bearer(one), `${path}&access_token=${one}`)).status, 401)

  const narrow = await service.tokenOf(acme, 'statements:read_statement')
  assert.equal((await call(bearer(narrow))).status, 403)
  await revoke(one)
  assert.equal((await call(bearer(one))).status, 401)
  assert.equal((await call(bearer(one))).status, 401)
  assert.equal(await firstOf(other), found[2])
  assert.equal(connected.mock.callCount(), 1)
})

async function revoke(token: string): Promise<void> {
  const client = { client_id: acme.clientId, client_secret: acme.clientSecret }
  const revoked = await service.call('/oauth2/revoke', {
    as: null,
    method: 'POST',
    body: new URLSearchParams({ token, ...client }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  assert.equal(revoked.status, 200, revoked.text)
}

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { callUrl, fetchToken } from '../../../../test/support/harness.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'
import { systemMs } from '../../../../test/support/until.ts'
import { createSandbox, type Sandbox, SandboxError } from '../../src/testing/create-sandbox.ts'

let sandbox: Sandbox
before(async () => {
  sandbox = await createSandbox({ seed: 'shop', clock: '2030-01-01T00:00:00Z' })
})
after(() => sandbox.close())

const accounts = (token: string) => callUrl(`${sandbox.url}/v2/transfer/fiat-accounts`, { token })
const idsOf = (body: { readonly items: readonly { readonly id: string }[] }) =>
  body.items.map(({ id }) => id)

describe('a sandbox of a test', () => {
  test('starts at the given time, with an empty customer of the seed', async () => {
    assert.match(await sandbox.clock.now(), /^2030-01-01T00:00:/)
    assert.equal(sandbox.client.customerId, 'customer_30f585c36d6523cc4d75')
    const { status, body } = await accounts(await fetchToken(sandbox.url, sandbox.client))
    assert.deepEqual([status, body.items], [200, []])
  })

  test('takes records, and saves and restores its state', async () => {
    const { customer_id: _own, ...account } = aFiatAccount()
    const snapshot = await sandbox.snapshot()
    assert.deepEqual(await sandbox.load('fiat-accounts', [account]), {
      added: 1,
      changed: 0,
      unchanged: 0,
    })
    const token = await fetchToken(sandbox.url, sandbox.client)
    assert.deepEqual(idsOf((await accounts(token)).body), [anId(1)])
    await snapshot.restore()
    assert.deepEqual(idsOf((await accounts(token)).body), [])
    await snapshot.remove()
    await assert.rejects(snapshot.restore(), SandboxError)
  })

  test('refuses a bad record with the importer’s message', async () => {
    await assert.rejects(sandbox.load('statements', [{ id: '7' }]), {
      name: 'SandboxError',
      status: 400,
      message: /^PUT \/sandbox\/records\/statements\?customer_id=\w+: 400 line 1: /,
    })
  })

  test('fails on demand, and expires tokens when time moves', async () => {
    const token = await fetchToken(sandbox.url, sandbox.client)
    await sandbox.faults.add({ kind: 'status', status: 503, retryAfter: 7, times: 2 })
    const failed = await accounts(token)
    assert.deepEqual([failed.status, failed.headers.get('retry-after')], [503, '7'])
    await sandbox.faults.clear()
    assert.equal((await accounts(token)).status, 200)
    const fault = await sandbox.faults.add({ kind: 'status', status: 500 })
    await fault.remove()
    assert.equal((await accounts(token)).status, 200)
    await sandbox.clock.advance(901)
    assert.equal((await accounts(token)).status, 401)
    await sandbox.clock.real()
    const away = Date.parse(await sandbox.clock.now()) - systemMs()
    assert.ok(Math.abs(away) < 60_000, `${away} ms`)
  })

  test('has further customers with sample records, who see nothing of each other', async () => {
    const other = await sandbox.customer({ records: 'sample' })
    const { body } = await accounts(await fetchToken(sandbox.url, other))
    assert.equal(body.items.length, 100)
    const own = await accounts(await fetchToken(sandbox.url, sandbox.client))
    assert.deepEqual(idsOf(own.body), [])
    await other.remove()
    await assert.rejects(fetchToken(sandbox.url, other))
  })
})

test('sandboxes are independent, and end with their block', async () => {
  let url = ''
  {
    await using one = await createSandbox({ seed: 'shop' })
    await using two = await createSandbox({ seed: 'shop' })
    url = one.url
    assert.notEqual(one.url, two.url)
    assert.equal(one.client.customerId, two.client.customerId)
  }
  await assert.rejects(fetch(url))
})

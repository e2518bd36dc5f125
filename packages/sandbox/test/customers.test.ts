import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertProblem } from '../../../test/support/assert-answer.ts'
import { fetchToken } from '../../../test/support/harness.ts'
import { isLong } from '../../../test/support/long.ts'
import { lists, pathOf, withdrawal } from '../../../test/support/operation-calls.ts'
import { operatorToken } from '../../../test/support/operator-token.ts'
import { itemsOf, readAllPages } from '../../../test/support/read-all-pages.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import {
  accountIds,
  describeSandbox,
  ndjson,
  startControlledSandbox,
} from '../../../test/support/sandbox-control.ts'
import type { SampleCustomer } from '../src/sample-records.ts'

const sandbox = describeSandbox()

const accounts = '/v2/transfer/fiat-accounts'

describe('POST /sandbox/customers', () => {
  test('creates a customer without records, whose client may call every operation', async () => {
    const created = await sandbox.control('POST', '/sandbox/customers')
    assert.equal(created.status, 201)
    assert.equal(created.headers.get('cache-control'), 'no-store')
    assert.deepEqual(Object.keys(created.body), [
      'customer_id',
      'client_id',
      'client_secret',
      'seed',
    ])
    const { customer_id: customerId, client_id: clientId, client_secret } = created.body
    const as = { customerId, clientId, clientSecret: client_secret }
    for (const list of lists) {
      const called = await sandbox.call(pathOf(list, [], customerId), { as })
      assert.deepEqual([called.status, itemsOf(list, called)], [200, []], list.id)
    }
    const body = JSON.stringify(withdrawal)
    const path = '/v2/transfer/fees/crypto-withdrawal'
    assert.equal((await sandbox.call(path, { as, method: 'POST', body })).status, 200)
  })

  test('gives the same seed the same ids and records in every sandbox', async () => {
    const other = await startControlledSandbox()
    const wanted = { seed: 'one seed', records: 'sample' }
    const pages = []
    for (const each of [sandbox, other]) {
      const as = await each.customer(wanted)
      const bodies = []
      for (const list of lists) {
        bodies.push(itemsOf(list, await each.call(pathOf(list, [], as.customerId), { as })))
      }
      pages.push({ as, bodies })
    }
    await other.stop()
    assert.deepEqual(pages[0], pages[1])
    assert.deepEqual(
      pages[0]?.bodies.map((items) => items.length).toSorted((a, b) => a - b),
      [10, 12, 100, 100, 100],
    )
  })

  test('gives each seed its own ids and records', async () => {
    const ids = new Set<string>()
    for (let at = 0; at < 8; at += 1) {
      const as = await sandbox.customer({ seed: `own ${at}`, records: 'sample' })
      for (const id of accountIds(await sandbox.call(accounts, { as }))) ids.add(id)
      ids.add(as.customerId).add(as.clientId).add(as.clientSecret)
    }
    assert.equal(ids.size, 8 * (100 + 3))
  })

  test('refuses a seed whose customer exists, and names the customer', async () => {
    const { customerId } = await sandbox.customer({ seed: 'twice' })
    assertProblem(await sandbox.control('POST', '/sandbox/customers', { seed: 'twice' }), {
      status: 409,
      detail: `the customer of this seed exists; delete ${customerId} first, or use another`,
      instance: '/sandbox/customers',
      meta: { customer_id: customerId },
    })
  })

  test('names every member at fault', async () => {
    assertProblem(
      await sandbox.control('POST', '/sandbox/customers', { seed: 3, records: 'all' }),
      {
        status: 400,
        detail: 'seed must be a JSON string; records must be none or sample',
        instance: '/sandbox/customers',
        meta: {
          errors: [
            { parameter: 'seed', code: 'wrong_type', reason: 'must be a JSON string' },
            { parameter: 'records', code: 'unknown_value', reason: 'must be none or sample' },
          ],
        },
      },
    )
  })

  test('gives each client its own rate limit', async () => {
    const limited = await startControlledSandbox({ env: { BURSAR_REQUESTS_PER_SECOND_MAX: '1' } })
    const [busy, calm] = [await limited.customer(), await limited.customer()]
    const statuses = []
    for (const as of [busy, busy, busy, calm]) {
      statuses.push((await limited.call(accounts, { as })).status)
    }
    await limited.stop()
    assert.ok(statuses.includes(429))
    assert.equal(statuses.at(-1), 200)
  })
})

describe('the past lists of a new customer', () => {
  const pastOf = async (customerId: string, token: string) => {
    const ids = []
    for (const list of lists) {
      const path = `/ingest/v1/customers/${customerId}/${list.view.resource.kind}`
      const past = await sandbox.call(`${path}?limit=1000`, { token })
      ids.push(itemsOf(list, past).map(({ id }) => id))
    }
    return ids
  }
  const currentOf = async (as: SampleCustomer) => {
    const read = lists.map((list) => readAllPages(sandbox, list, [], { as }))
    return (await Promise.all(read)).map(({ items }) => items.map(({ id }) => id))
  }

  test('have its records, and are unknown before its creation', async () => {
    const as = await sandbox.customer({ records: 'sample' })
    const token = await operatorToken(sandbox, 'auditor', ['ingest:read_history'])
    assert.deepEqual(await pastOf(as.customerId, token), await currentOf(as))
    for (const list of lists) {
      const path = `/ingest/v1/customers/${as.customerId}/${list.view.resource.kind}`
      const { status, text } = await sandbox.call(`${path}?as_of=2020-01-01T00:00:00Z`, { token })
      assert.equal(status, 410, text)
    }
  })

  test('also have what was stored for it before, at a later time', async () => {
    const move = (body: object) => sandbox.control('POST', '/sandbox/clock', body)
    const wanted = { seed: 'with a past', records: 'sample' }
    const { customerId } = await sandbox.customer(wanted)
    await sandbox.control('DELETE', `/sandbox/customers/${customerId}`)
    await move({ advance_seconds: 3600 })
    const own = aFiatAccount({ id: anId(50), customer_id: customerId })
    await sandbox.control('PUT', '/sandbox/records/fiat-accounts', ndjson(own))
    await move({ real: true })
    const as = await sandbox.customer(wanted)
    await move({ advance_seconds: 7200 })
    const token = await operatorToken(sandbox, 'later_auditor', ['ingest:read_history'])
    const past = await pastOf(customerId, token)
    assert.deepEqual(past, await currentOf(as))
    assert.ok(past.flat().includes(anId(50)))
    await move({ real: true })
  })
})

describe('DELETE /sandbox/customers/{customer}', () => {
  test('removes a customer with its token, secret and records, and frees its seed', async () => {
    const wanted = { seed: 'removed', records: 'sample' }
    const as = await sandbox.customer(wanted)
    const neighbour = await sandbox.customer({ records: 'sample' })
    const token = await sandbox.tokenOf(as)
    const path = `/sandbox/customers/${as.customerId}`
    const deleted = await sandbox.control('DELETE', path)
    assert.deepEqual([deleted.status, deleted.text], [204, ''])
    assert.equal((await sandbox.call(accounts, { token })).status, 401)
    await assert.rejects(fetchToken(sandbox.url, as), /invalid_client/)
    assert.equal((await sandbox.control('DELETE', path)).status, 404)
    assert.deepEqual(await sandbox.customer(wanted), as)
    const again = await fetchToken(sandbox.url, as)
    assert.equal(accountIds(await sandbox.call(accounts, { token: again })).length, 100)
    assert.equal(accountIds(await sandbox.call(accounts, { as: neighbour })).length, 100)
  })
})

const WORKERS = isLong ? 200 : 60

test('customers that are created at once serve as many workers without cross-talk', async () => {
  const workers = Array.from({ length: WORKERS }, (_, at) => at)
  const results = await Promise.all(
    workers.map(async (at) => {
      const as = await sandbox.customer({ seed: `worker ${at}` })
      const own = aFiatAccount({
        id: `bbbbbbbb-0000-4000-8000-${String(at).padStart(12, '0')}`,
        customer_id: as.customerId,
      })
      await sandbox.control('PUT', '/sandbox/records/fiat-accounts', ndjson(own))
      const times = 1 + (at % 3)
      const status = [429, 500, 503][at % 3]
      const fault = { customer_id: as.customerId, kind: 'status', status, times }
      await sandbox.control('POST', '/sandbox/faults', fault)
      const seen = []
      for (let call = 0; call < 4; call += 1) {
        const called = await sandbox.call(accounts, { as })
        seen.push(called.status === 200 ? accountIds(called) : called.status)
      }
      const list = await sandbox.control('GET', `/sandbox/requests?customer_id=${as.customerId}`)
      return { seen, noted: list.body.requests.length }
    }),
  )
  const expected = workers.map((at) => {
    const failed = Array.from({ length: 1 + (at % 3) }, () => [429, 500, 503][at % 3])
    const id = `bbbbbbbb-0000-4000-8000-${String(at).padStart(12, '0')}`
    const read = Array.from({ length: 4 - failed.length }, () => [id])
    // The token, and four reads.
    return { seen: [...failed, ...read], noted: 5 }
  })
  assert.deepEqual(results, expected)
})

test('customers are listed by their ids, without a secret, until they are deleted', async () => {
  const listed = async () => (await sandbox.control('GET', '/sandbox/customers')).body.customers
  const before = await listed()
  const { customerId } = await sandbox.customer()
  const byId = (one: { readonly customer_id: string }, other: { readonly customer_id: string }) =>
    one.customer_id < other.customer_id ? -1 : 1
  assert.deepEqual(await listed(), [...before, { customer_id: customerId }].toSorted(byId))
  await sandbox.control('DELETE', `/sandbox/customers/${customerId}`)
  assert.deepEqual(await listed(), before)
})

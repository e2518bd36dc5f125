import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { recordKinds } from '@bursar/contract'
import { assertProblem } from '../../../test/support/assert-answer.ts'
import { aFiatAccount, anId, samples } from '../../../test/support/records.ts'
import { reindexed } from '../../../test/support/reindexed.ts'
import { accountIds, describeSandbox, ndjson } from '../../../test/support/sandbox-control.ts'

const sandbox = describeSandbox()

const accounts = '/v2/transfer/fiat-accounts'
const path = '/sandbox/records/fiat-accounts'

describe('PUT /sandbox/records/{kind}', () => {
  test('adds, replaces and leaves records of every kind as the importer does', async () => {
    const { customerId } = await sandbox.customer()
    for (const kind of recordKinds) {
      const record = samples[kind]({ customer_id: customerId })
      const put = (over: object = {}) =>
        sandbox.control('PUT', `/sandbox/records/${kind}`, ndjson({ ...record, ...over }))
      const bodies = [await put(), await put(), await put({ ref_id: 'changed' })].map(
        ({ body }) => body,
      )
      assert.deepEqual(
        bodies,
        [
          { added: 1, changed: 0, unchanged: 0 },
          { added: 0, changed: 0, unchanged: 1 },
          { added: 0, changed: 1, unchanged: 0 },
        ],
        kind,
      )
    }
  })

  test('gives records without a customer the one of the query', async () => {
    const as = await sandbox.customer()
    const { customer_id: _, ...account } = aFiatAccount({ id: anId(7) })
    const put = await sandbox.control(
      'PUT',
      `${path}?customer_id=${as.customerId}`,
      ndjson(account),
    )
    assert.deepEqual([put.status, put.body.added], [200, 1])
    const listed = await sandbox.call(accounts, { as })
    assert.deepEqual(accountIds(listed), [anId(7)])
    const foreign = ndjson(aFiatAccount({ id: anId(8) }))
    assertProblem(await sandbox.control('PUT', `${path}?customer_id=${as.customerId}`, foreign), {
      status: 400,
      detail: 'line 1: customer_id must be the customer that customer_id names in the query',
      instance: path,
      meta: {
        fault_count: 1,
        errors: [
          {
            line: 1,
            member: 'customer_id',
            code: 'other_customer',
            reason: 'must be the customer that customer_id names in the query',
          },
        ],
      },
    })
    assert.equal((await sandbox.control('PUT', `${path}?customer_id=x`, foreign)).status, 404)
  })

  test('refuses all records for one fault, with the importer’s messages', async () => {
    const as = await sandbox.customer()
    const own = { customer_id: as.customerId }
    const good = aFiatAccount({ ...own, id: anId(20) })
    const bad = aFiatAccount({ ...own, id: anId(21), status: 'OPEN' })
    assertProblem(await sandbox.control('PUT', path, `${ndjson(good, bad)}nope`), {
      status: 400,
      detail: 'line 2: status must be PENDING, APPROVED or REJECTED; meta.errors has all 2 faults',
      instance: path,
      meta: {
        fault_count: 2,
        errors: [
          {
            line: 2,
            member: 'status',
            code: 'unknown_value',
            reason: 'must be PENDING, APPROVED or REJECTED',
          },
          {
            line: 3,
            member: 'record',
            code: 'not_json',
            reason: "is not JSON: Unexpected token 'o'",
          },
        ],
      },
    })
    assert.deepEqual(accountIds(await sandbox.call(accounts, { as })), [])
  })

  test('refuses an older record unless the query allows it', async () => {
    const { customerId } = await sandbox.customer()
    const at = (updated_at: string) =>
      ndjson(aFiatAccount({ id: anId(30), customer_id: customerId, updated_at }))
    await sandbox.control('PUT', path, at('2026-03-01T00:00:00Z'))
    const older = at('2026-02-01T00:00:00Z')
    const refused = await sandbox.control('PUT', path, older)
    assert.deepEqual(refused.body.meta.errors, [
      {
        line: 1,
        member: 'updated_at',
        code: 'older',
        reason: 'is older than what is stored; allow_older=true takes it all the same',
      },
    ])
    const allowed = await sandbox.control('PUT', `${path}?allow_older=true`, older)
    assert.deepEqual([allowed.status, allowed.body.changed], [200, 1])
  })

  test('refuses no record, an unknown kind, and more than it takes', async () => {
    const cases: readonly (readonly [string, string, number, string])[] = [
      [path, '', 400, 'the body has no record; send one JSON object a line'],
      [
        '/sandbox/records/accounts',
        '{}',
        400,
        'kind must be fiat-accounts, fiat-deposit-instructions, deposit-addresses, statements or issuer-quote-executions',
      ],
      [
        path,
        ' '.repeat(limitNamed('sandboxRecordsBytesMax') + 1),
        413,
        'the body must have at most 16777216 bytes',
      ],
    ]
    for (const [where, body, status, detail] of cases) {
      const called = await sandbox.control('PUT', where, body)
      assert.deepEqual([called.status, called.body.detail], [status, detail])
    }
  })
})

describe('DELETE /sandbox/records/{kind}/{id}', () => {
  test('removes one record from every answer, and its page gets another entity tag', async () => {
    const as = await sandbox.customer({ records: 'sample' })
    const before = await sandbox.call(accounts, { as })
    const [id = '', ...others] = accountIds(before)
    const deleted = await sandbox.control('DELETE', `${path}/${id}`)
    assert.deepEqual([deleted.status, deleted.text], [204, ''])
    const after = await sandbox.call(`${accounts}?limit=99`, { as })
    assert.deepEqual(accountIds(after), others)
    assert.notEqual(after.headers.get('etag'), before.headers.get('etag'))
    assert.equal((await sandbox.call(`${accounts}/${id}`, { as })).status, 404)
    assertProblem(await sandbox.control('DELETE', `${path}/${id}`), {
      status: 404,
      detail: `no fiat account found for id: '${id}'`,
      instance: `${path}/${id}`,
    })
    const malformed = await sandbox.control('DELETE', `${path}/7`)
    assert.deepEqual(malformed.body.detail, "id must be uuid, given '7'")
  })
})

describe('the kept counts of records', () => {
  const wrong = () => reindexed(sandbox.parts.store, false)
  const kept = async (customerId: string) => {
    const found = await sandbox.parts.store.operator.customers.find(customerId)
    return found?.kinds.get('fiat-accounts')?.live
  }

  test('follow what a test adds, deletes, removes, saves and restores', async () => {
    const { customerId } = await sandbox.customer({ seed: 'counted', records: 'sample' })
    const sample = (await kept(customerId)) ?? 0
    assert.ok(sample > 0)
    const put = (at: number, over: object = {}) =>
      sandbox.control(
        'PUT',
        path,
        ndjson(aFiatAccount({ id: anId(at), customer_id: customerId, ref_id: `k-${at}`, ...over })),
      )
    await put(901)
    await put(902, { deleted_at: '2026-03-01T00:00:00Z' })
    assert.deepEqual([await kept(customerId), await wrong()], [sample + 1, []])
    const saved = await sandbox.control('POST', '/sandbox/snapshots')
    for (const at of [901, 902]) {
      assert.equal((await sandbox.control('DELETE', `${path}/${anId(at)}`)).status, 204)
    }
    const later = await sandbox.customer({ records: 'sample' })
    assert.deepEqual([await kept(customerId), await wrong()], [sample, []])
    await sandbox.control('DELETE', `/sandbox/customers/${customerId}`)
    assert.deepEqual([await kept(customerId), await wrong()], [undefined, []])
    await sandbox.control('POST', `/sandbox/snapshots/${saved.body.id}/restore`)
    assert.deepEqual([await kept(customerId), await wrong()], [sample + 1, []])
    assert.equal(await kept(later.customerId), undefined)
    await sandbox.control('POST', '/sandbox/reset')
    assert.deepEqual(await wrong(), [])
  })
})

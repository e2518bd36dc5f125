import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { importEntries } from '@bursar/intake'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, borealis } from '../../../../test/support/harness.ts'
import { entriesOf, rules } from '../../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'
import { fiatAccount } from '../../../contract/src/resources/fiat-account.ts'
import type { CustomerRecords } from '../../../records/src/records.ts'

/** First pages that are requested again come from memory while their revision is current. */

const list = '/v2/transfer/fiat-accounts'

let pagesRead = 0

const service = describeService({}, async () => {
  const customers = service.parts.store.customers as { page: CustomerRecords['page'] }
  const { page } = customers
  customers.page = (...asked) => {
    pagesRead += 1
    return page(...asked)
  }
})

beforeEach(() => {
  pagesRead = 0
})

const change = async (ref_id: string) => {
  const created_at = '2099-01-01T00:00:00Z'
  const record = aFiatAccount({ id: anId(7), customer_id: 'acme', ref_id, created_at })
  const options = { dryRun: false, allowOlder: true, rules }
  await importEntries(service.parts.store, fiatAccount.resource, entriesOf([record]), options)
}

describe('a first page', () => {
  test('is read twice, then kept, and the next read sees a change', async () => {
    const path = `${list}?limit=2&page=3`
    const answers = []
    for (let at = 0; at < 5; at += 1) answers.push(await service.call(path))
    assert.equal(pagesRead, 2)
    assert.equal(new Set(answers.slice(1).map(({ text }) => text)).size, 1)
    assert.equal(new Set(answers.map(({ headers }) => headers.get('etag'))).size, 1)
    for (const { headers } of answers) assert.equal(headers.get('x-ignored-parameters'), 'page')
    for (const ref_id of ['changed', 'changed-again']) {
      await change(ref_id)
      for (const _time of [1, 2, 3]) {
        const { body } = await service.call(path)
        assert.equal(body.items[0].ref_id, ref_id)
      }
    }
    assert.equal(pagesRead, 4)
  })

  test('is not shared with another customer or another list', async () => {
    const path = `${list}?limit=3`
    for (const _time of [1, 2, 3]) await service.call(path)
    const { body } = await service.call(path, { as: borealis })
    const { body: own } = await service.call(path)
    assert.notEqual(body.items[0].id, own.items[0].id)
    const { status } = await service.call('/v2/transfer/fiat-deposit-instructions?limit=3')
    assert.equal(status, 200)
    assert.equal(pagesRead, 4)
  })

  test('costs a client that holds it no page, until it changes', async () => {
    const path = `${list}?limit=4`
    const first = await service.call(path)
    const etag = String(first.headers.get('etag'))
    const poll = () => service.call(path, { headers: { 'if-none-match': etag } })
    for (const _time of [1, 2, 3]) assert.equal((await poll()).status, 304)
    assert.equal(pagesRead, 1)
    await change('polled')
    const { status, body } = await poll()
    assert.deepEqual([status, body.items[0].ref_id], [200, 'polled'])
  })

  test('needs a valid request, a scope and the caller’s own customer id as before', async () => {
    for (const _time of [1, 2, 3]) {
      assert.equal((await service.call(`${list}?limit=1001`)).status, 400)
      const token = await service.tokenOf(acme, 'statements:read_statement')
      assert.equal((await service.call(`${list}?limit=5`, { token })).status, 403)
      const foreign = await service.call('/v2/statements?customer_id=borealis')
      assert.deepEqual([foreign.status, foreign.body.statements], [200, []])
    }
  })

  test('after a cursor is read anew each time', async () => {
    const { body } = await service.call(`${list}?limit=6`)
    for (const _time of [1, 2, 3]) {
      await service.call(`${list}?limit=6&page_cursor=${body.next_page_cursor}`)
    }
    assert.equal(pagesRead, 4)
  })
})

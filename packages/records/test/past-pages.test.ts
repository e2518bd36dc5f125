import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemTime } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { describeStore } from '../../../test/support/describe-store.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { setLimits } from '../../../test/support/set-limits.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'

const tested = describeStore()
const RECORDS = 20

describe('a page of the past in full', () => {
  test('opens its bodies in time slices, between which requests have their turn', async (t) => {
    const records = Array.from({ length: RECORDS }, (_, at) =>
      aFiatAccount({ id: anId(at + 1), ref_id: `ref-${at}`, customer_id: 'acme' }),
    )
    await tested.take('fiat-accounts', records)
    setLimits(t, { timeSliceMs: 0 })
    let turns = 0
    let isOver = false
    const request = () => {
      turns += 1
      if (!isOver) setImmediate(request)
    }
    const reading = tested.store.operator.pageAsOf(fiatAccount.resource, asTenant('acme'), 'full', {
      asOf: systemTime.now() + 60_000_000n,
      anyOf: [],
      from: undefined,
      before: undefined,
      after: undefined,
      order: 'ASC',
      includeDeleted: true,
      limit: RECORDS,
    })
    setImmediate(request)
    const page = await reading
    isOver = true
    assert.equal(page.rows, RECORDS)
    assert.equal(JSON.parse(`[${Buffer.from(page.items)}]`).length, RECORDS)
    assert.ok(turns >= RECORDS, `${turns} turns`)
  })
})

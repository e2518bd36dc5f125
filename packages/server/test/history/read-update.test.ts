import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readUpdates, StoreDamaged } from '@bursar/records'
import type { LatestChange } from '../../../records/src/records/latest-change.ts'

const change = {
  kind: 'statements',
  id: 'a',
  customerId: 'acme',
  action: 'updated',
  storedAt: 20n,
} as LatestChange

type Stored = { readonly storedAt: bigint; readonly record: object }
const version = (storedAt: bigint, record: object): Stored => ({ storedAt, record })

/** What is answered where the store has these versions, or throws. */
async function updateOf(versions: readonly Stored[], error?: Error) {
  const update = async () => {
    if (error !== undefined) throw error
    const [before, after] = versions.map(({ record }) => JSON.stringify(record))
    return before === undefined || after === undefined ? undefined : { before, after }
  }
  return (await readUpdates({ update }, [change])).get(change)
}

const before = version(10n, { id: 'a', status: 'PENDING', owner: { name: 'x' } })
const after = version(20n, { id: 'a', status: 'APPROVED', owner: { name: 'y' } })

describe('an update of the latest changes', () => {
  test('names its members, and the status before and after', async () => {
    assert.deepEqual(await updateOf([before, after]), {
      changed: ['status', 'owner.name'],
      status_before: 'PENDING',
      status_after: 'APPROVED',
    })
  })

  test('has no answer where one of its versions is not kept', async () => {
    assert.equal(await updateOf([after]), undefined)
    assert.equal(await updateOf([]), undefined)
  })

  test('has no answer where a version is damaged, and other failures are thrown', async () => {
    assert.equal(await updateOf([], new StoreDamaged('a body was damaged')), undefined)
    await assert.rejects(updateOf([], new TypeError('a fault')), TypeError)
  })
})

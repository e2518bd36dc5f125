import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeStore } from '../../../test/support/describe-store.ts'
import { anId, aStatement } from '../../../test/support/records.ts'
import type { CustomerPlace } from '../src/records/customer-entries.ts'

const tested = describeStore()
const register = () => tested.store.operator.customers

let added = 0
async function add(...ids: readonly string[]) {
  const records = ids.map((customer_id) => {
    added += 1
    return aStatement({ id: anId(added), customer_id })
  })
  assert.equal((await tested.take('statements', records)).added, ids.length)
}

/** The ids on all pages of a list, and how many pages it has. */
async function walk(prefix = '', customersMax = 2) {
  const ids: string[] = []
  let pages = 0
  let after: CustomerPlace | undefined
  do {
    const page = await register().list({ prefix, after, customersMax })
    assert.ok(page.customers.length <= customersMax)
    ids.push(...page.customers.map(({ id }) => id))
    pages += 1
    after = page.next
  } while (after !== undefined)
  return { ids, pages }
}

const erase = (id: string) => tested.store.operator.eraseSome(id, [], undefined)

describe('the list of customers', () => {
  test('has each once, by id in any case, with its counts and times', async () => {
    await add('zeta', 'Beta', 'alpha', 'beta', 'Éclair')
    assert.deepEqual((await walk()).ids, ['alpha', 'Beta', 'beta', 'zeta', 'Éclair'])
    const [first] = (await register().list({ prefix: 'AL', after: undefined, customersMax: 9 }))
      .customers
    const kept = first?.kinds.get('statements')
    assert.deepEqual([first?.id, first?.name, first?.kinds.size], ['alpha', undefined, 1])
    assert.deepEqual([kept?.live, kept?.keptSince], [1, kept?.changedAt])
  })

  test('finds by the start of an id, then by the start of a word of a name, each once', async () => {
    await add('north-1', 'south-1', 'west', 'NORTH-2', 'n')
    await register().rename('south-1', 'Great  Northern   Trading')
    await register().rename('north-1', 'North North West')
    await register().rename('west', 'Société NORTHWEST-Sud')
    assert.deepEqual((await walk('nOrTh', 1)).ids, ['north-1', 'NORTH-2', 'south-1', 'west'])
    assert.deepEqual((await walk('north', 50)).ids, ['north-1', 'NORTH-2', 'south-1', 'west'])
    assert.deepEqual((await walk('northern tr')).ids, ['south-1'])
    assert.deepEqual((await walk('SOCIETE')).ids, ['west'])
    assert.deepEqual((await walk('sud')).ids, ['west'])
    assert.deepEqual((await walk('orth')).ids, [])
    assert.deepEqual((await walk('%')).ids, [])
  })

  test('leaves an erased customer out, with its name, until it has a record again', async () => {
    await add('one', 'two', 'three')
    await register().rename('two', 'Old Name')
    while ((await erase('two')).next !== undefined);
    assert.deepEqual((await walk('', 1)).ids, ['one', 'three'])
    assert.deepEqual((await walk('old')).ids, [])
    assert.equal(await register().find('two'), undefined)
    assert.equal(await register().rename('two', 'New Name'), false)
    await add('two')
    assert.equal((await register().find('two'))?.name, undefined)
    assert.deepEqual((await walk('t')).ids, ['three', 'two'])
    for (const table of ['customer_name', 'customer_term']) {
      assert.deepEqual(await tested.ask(`select * from bursar.${table}`), [])
    }
  })

  test('finds a name no more once it was replaced or removed', async () => {
    await add('one')
    assert.equal(await register().rename('one', 'First Name'), true)
    assert.equal(await register().rename('one', 'Second'), true)
    assert.deepEqual([(await walk('first')).ids, (await walk('sec')).ids], [[], ['one']])
    assert.equal((await register().find('one'))?.name, 'Second')
    assert.equal(await register().rename('one', undefined), true)
    assert.deepEqual((await walk('sec')).ids, [])
    assert.equal(await register().rename('nobody', 'Name'), false)
  })
})

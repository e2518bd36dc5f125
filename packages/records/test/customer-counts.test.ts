import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asTenant, lists } from '@bursar/contract'
import { describeStore } from '../../../test/support/describe-store.ts'
import { isLong } from '../../../test/support/long.ts'
import { aDepositAddress, aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'
import { reindexed } from '../../../test/support/reindexed.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { seeded } from '../../server/test/model/model.ts'
import type { ErasePlace } from '../src/records/erasure.ts'
import { putOne } from './support/put-one.ts'

const tested = describeStore()
const register = () => tested.store.operator.customers

/** The kept counts of a customer that are not 0, by kind. */
async function keptOf(customerId: string): Promise<Record<string, number>> {
  const found = await register().find(customerId)
  const kinds = [...(found?.kinds ?? [])].map(([kind, { live }]): [string, number] => [kind, live])
  return Object.fromEntries(kinds.filter(([, live]) => live !== 0))
}

/** How many records each list of a customer shows without filters. */
async function shownOf(customerId: string): Promise<Record<string, number>> {
  const counts: [string, number][] = []
  for (const { view } of lists) {
    const selection = { ...firstPage, limit: 1000 }
    const { items } = await tested.store.customers.page(asTenant(customerId), view, selection)
    counts.push([view.resource.kind, JSON.parse(`[${Buffer.from(items)}]`).length])
  }
  return Object.fromEntries(counts.filter(([, count]) => count !== 0))
}

const wrong = () => reindexed(tested.store, false)

async function erase(customerId: string): Promise<void> {
  let from: ErasePlace | undefined
  do {
    from = (await tested.store.operator.eraseSome(customerId, [], from)).next
  } while (from !== undefined)
}

const customers = ['acme', 'borealis', 'corvid']
const kinds = ['fiat-accounts', 'deposit-addresses', 'statements'] as const
/** Of few addresses, so that customers take them from each other. */
const addressOf = (at: number) => `0x${String(at + 10).repeat(20)}`
const DELETED = '2026-03-01T00:00:00Z'

describe('the kept counts of records', () => {
  test('are those that lists show after any imports, puts, withdrawals, take-overs and erasures', async () => {
    for (let seed = 1; seed <= (isLong ? 60 : 3); seed += 1) {
      const { pick, below, chance } = seeded(seed)
      const aRecord = (kind: (typeof kinds)[number], owner: string) => {
        const id = anId(customers.indexOf(owner) * 10 + below(6) + 1)
        const given = { id, customer_id: owner, ref_id: `r-${id}` }
        if (kind === 'deposit-addresses') {
          return aDepositAddress({ ...given, address: addressOf(below(8)) })
        }
        if (kind === 'statements') {
          const total = { asset: 'USDG', amount_paid: '0', total_amount_owed: String(below(9) + 1) }
          return aStatement({ ...given, statement_balances: [total] })
        }
        const status = pick(['PENDING', 'APPROVED'])
        const deletion = chance(30) ? { deleted_at: pick([DELETED, null]) } : {}
        return aFiatAccount({ ...given, status, ...deletion })
      }
      const acts = {
        import: async (kind: (typeof kinds)[number]) => {
          const records = customers.map((owner) => aRecord(kind, owner))
          const takeOver = kind === 'deposit-addresses' && chance(60)
          await tested.take(kind, records, { takeOver })
        },
        put: async (kind: (typeof kinds)[number], owner: string) => {
          const takeOver = kind === 'deposit-addresses' && chance(60)
          const puts = [aRecord(kind, owner), aRecord(kind, pick(customers))]
          await Promise.all(puts.map((one) => putOne(tested.store, kind, one, { takeOver })))
        },
        withdraw: async (kind: (typeof kinds)[number], owner: string) => {
          const { id } = aRecord(kind, owner)
          const record = { customerId: owner, id: String(id), withdraws: true } as const
          await putOne(tested.store, kind, aRecord(kind, owner), { record })
        },
        erase: async (_kind: string, owner: string) => {
          if (chance(25)) await erase(owner)
        },
      }
      const names = [
        'import',
        'import',
        'put',
        'put',
        'put',
        'withdraw',
        'withdraw',
        'erase',
      ] as const
      for (let step = 0; step < 25; step += 1) {
        const [name, kind, owner] = [pick(names), pick(kinds), pick(customers)]
        await acts[name](kind, owner)
        for (const customer of customers) {
          const says = `seed ${seed}, step ${step}: ${name} ${kind} of ${owner}, for ${customer}`
          assert.deepEqual(await keptOf(customer), await shownOf(customer), says)
        }
      }
      assert.deepEqual(await wrong(), [], `seed ${seed}`)
    }
  })

  test('are 0 in a store that was cleared', async () => {
    await tested.take('statements', [aStatement()])
    await tested.store.operator.clear()
    assert.deepEqual(await tested.ask('select live from bursar.revision where live <> 0'), [])
  })

  test('are compared, and corrected for good', async () => {
    await tested.take('fiat-accounts', [aFiatAccount(), aFiatAccount({ id: anId(2), ref_id: 'r' })])
    await tested.take('fiat-accounts', [
      aFiatAccount({ id: anId(3), ref_id: 'third', customer_id: 'borealis' }),
    ])
    assert.deepEqual(await wrong(), [])
    await tested.ask(`update bursar.revision set live = 7
      where customer = (select number from bursar.customer where id = 'acme')
        and kind = 'fiat-accounts'`)
    await tested.ask(`delete from bursar.revision
      where customer = (select number from bursar.customer where id = 'borealis')`)
    await tested.ask(`insert into bursar.revision (customer, kind, changed_at, live)
      select number, 'statements', 0, 2 from bursar.customer where id = 'acme'`)
    const found = [
      'customer "acme" has 2 fiat-accounts, where 7 are kept',
      'customer "borealis" has 1 fiat-accounts, where 0 are kept',
      'customer "acme" has 0 statements, where 2 are kept',
    ]
    assert.deepEqual(await wrong(), found)
    assert.deepEqual(await reindexed(tested.store, true), found)
    assert.deepEqual(await wrong(), [])
    assert.deepEqual(await keptOf('acme'), { 'fiat-accounts': 2 })
    assert.deepEqual(await keptOf('borealis'), { 'fiat-accounts': 1 })
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeStore } from '../../../test/support/describe-store.ts'
import { isLong } from '../../../test/support/long.ts'
import { aDepositAddress, aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'
import { openWalk } from '../../../test/support/walk-store.ts'
import { seeded } from '../../server/test/model/model.ts'
import { putOne } from './support/put-one.ts'

const tested = describeStore()
const customers = ['acme', 'borealis', 'corvid'] as const

async function erase(customerId: string): Promise<void> {
  let from: Parameters<typeof tested.store.operator.eraseSome>[2]
  do {
    from = (await tested.store.operator.eraseSome(customerId, [], from)).next
  } while (from !== undefined)
}

test('a walk finds nothing beside imports, puts, deletions, take-overs and erasures', async () => {
  for (let seed = 1; seed <= (isLong ? 40 : 2); seed += 1) {
    const { pick, below, chance } = seeded(seed)
    const aRecord = (owner: string) => {
      const id = anId(customers.findIndex((one) => one === owner) * 10 + below(9) + 1)
      const given = { id, customer_id: owner, ref_id: `r-${id}` }
      const address = `0x${String(below(8) + 10).repeat(20)}`
      const deletion = chance(30) ? { deleted_at: '2026-03-01T00:00:00Z' } : {}
      return {
        'deposit-addresses': aDepositAddress({ ...given, address }),
        statements: aStatement(given),
        'fiat-accounts': aFiatAccount({ ...given, ...deletion }),
      }
    }
    const kinds = ['fiat-accounts', 'deposit-addresses', 'statements'] as const
    const acts = [
      async () => {
        const kind = pick(kinds)
        const records = customers.map((owner) => aRecord(owner)[kind])
        await tested.take(kind, records, { takeOver: kind === 'deposit-addresses' })
      },
      async () => {
        const kind = pick(kinds)
        const record = aRecord(pick(customers))[kind]
        await putOne(tested.store, kind, record, { takeOver: kind === 'deposit-addresses' })
      },
      async () => {
        if (chance(20)) await erase(pick(customers))
      },
    ]
    const walk = openWalk(tested.store)
    let isWriting = true
    const write = async () => {
      for (let act = 0; act < 60; act += 1) await pick(acts)()
      isWriting = false
    }
    const look = async () => {
      while (isWriting) await walk.round()
    }
    await Promise.all([write(), look()])
    await walk.round()
    assert.deepEqual([walk.said, walk.failures], [[], []], `seed ${seed}`)
  }
})

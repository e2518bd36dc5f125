import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asTenant } from '../../../src/contract/principal.ts'
import { transactOn } from '../../../src/store/postgres/cluster/transaction.ts'
import { dialect } from '../../../src/store/postgres/dialect.ts'
import type { PruneKey } from '../../../src/store/records/history.ts'
import { openPruner } from '../../../src/store/versions/prune.ts'
import { openPostgresTestStore, openTestOperator, resourceOf } from '../../support/record-store.ts'
import { aFiatAccount } from '../../support/records.ts'

test('pruning keeps a former value that a record loses again in the meantime', async (t) => {
  let now = 1_000_000n
  const tested = await openPostgresTestStore(() => now)
  const operator = await openTestOperator(tested.database)
  t.after(async () => {
    await operator.close()
    await tested.close()
  })
  const store = async (at: bigint, ref: string) => {
    now = at
    const account = aFiatAccount({ customer_id: 'acme', ref_id: ref })
    assert.equal((await tested.take('fiat-accounts', [account])).faultCount, 0)
  }
  await store(1_000_000n, 'old')
  await store(2_000_000n, 'new')
  await store(3_000_000n, 'old')
  let losesAgain = () => store(6_000_000n, 'newest')
  const { pruneHistory } = openPruner(
    (work) =>
      transactOn(operator)((session) =>
        work({
          ...session,
          rows: async (statement) => {
            if (statement.text.startsWith('delete from bursar.former_value')) {
              await losesAgain()
              losesAgain = async () => {}
            }
            return await session.rows(statement)
          },
        }),
      ),
    dialect,
  )
  let next: PruneKey | undefined
  do next = (await pruneHistory(4_000_000n, next, 100)).next
  while (next !== undefined)
  const page = await tested.store.operator.pageAsOf(
    resourceOf('fiat-accounts'),
    asTenant('acme'),
    'full',
    {
      anyOf: [{ column: 'refId', values: ['old'] }],
      from: undefined,
      before: undefined,
      includeDeleted: false,
      order: 'ASC',
      after: undefined,
      limit: 10,
      asOf: 5_000_000n,
    },
  )
  assert.equal(page.rows, 1)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asTenant } from '@bursar/contract'
import type { PruneKey } from '@bursar/records'
import {
  openPostgresTestStore,
  openTestOperator,
  resourceOf,
} from '../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { addressesOf } from '../../../test/support/test-database.ts'
import { untilHolds } from '../../../test/support/until.ts'
import { openPruner } from '../../records/src/versions/prune.ts'
import { transactOn } from '../src/cluster/transaction.ts'
import { dialect } from '../src/dialect.ts'
import { openConnection } from '../src/driver/connection.ts'

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

test('two prunings wait for the customers that keep versions in the same order', async (t) => {
  const tested = await openPostgresTestStore(() => 1_000_000n)
  const operator = await openTestOperator(tested.database)
  const [address] = addressesOf(tested.database.superuserUrl)
  assert.ok(address !== undefined)
  const blocker = openConnection(address, { parameters: {}, connectTimeoutMs: 60_000 })
  t.after(async () => {
    await blocker.close()
    await operator.close()
    await tested.close()
  })
  const accounts = ['first', 'second'].map((customer_id, at) =>
    aFiatAccount({ id: anId(at), customer_id }),
  )
  assert.equal((await tested.take('fiat-accounts', accounts)).faultCount, 0)
  const keptSince = 'select customer from bursar.kept_since'
  const customers = (await tested.ask(`${keptSince} order by customer`)).map(([one]) => Number(one))
  assert.equal(customers.length, 2)
  // The row of the first customer now lies behind the other one in the table.
  await tested.ask(`update bursar.kept_since set at = at where customer = ${customers[0]}`)
  await blocker.execute(`begin; ${keptSince} where customer = ${customers[0]} for update`)
  const pruned = openPruner(transactOn(operator), dialect).pruneHistory(2_000_000n, undefined, 100)
  const waiting = `select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  const waits = async () => (await tested.ask(waiting)).length === 1
  await untilHolds('the pruning waits for a row', waits)
  const free = await tested.ask(`${keptSince} for update skip locked`)
  assert.deepEqual(
    free.map(([one]) => Number(one)),
    [customers[1]],
  )
  await blocker.execute('commit')
  await pruned
  const times = await tested.ask('select distinct at from bursar.kept_since')
  assert.deepEqual(
    times.map(([at]) => Number(at)),
    [2_000_000],
  )
})

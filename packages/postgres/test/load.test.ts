import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { renderRecord } from '@bursar/intake'
import type { RecordLoad } from '@bursar/records'
import {
  openPostgresTestStore,
  openTestOperator,
  resourceOf,
  rules,
} from '../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { testLoads } from '../../../test/support/test-database.ts'
import { untilHolds } from '../../../test/support/until.ts'
import { recordCheck } from '../../intake/src/check.ts'
import { openPostgresStore } from '../src/records/open-postgres-store.ts'

let tested: Awaited<ReturnType<typeof openPostgresTestStore>>
before(async () => {
  tested = await openPostgresTestStore()
})
after(() => tested.close())

/** The sessions of the operator that hold a snapshot or a transaction. */
const holding = `
  select count(*) from pg_stat_activity
  where datname = current_database() and usename = 'bursar_operator'
    and (backend_xmin is not null or backend_xid is not null or state <> 'idle')`

const resource = resourceOf('fiat-accounts')
const check = recordCheck(resource, rules)

async function stage(load: RecordLoad, first: number, records: number): Promise<void> {
  for (let at = 0; at < records; at += 1) {
    const checked = check(aFiatAccount({ id: anId(first + at) }))
    assert.ok('record' in checked)
    await load.stage(renderRecord(resource, checked.record, at + 1))
  }
}

const merged = { dryRun: false, allowOlder: false }

test('an import that waits for its input holds no session, so it does not delay VACUUM', async () => {
  const load = await tested.store.operator.beginLoad(resource)
  await stage(load, 0, 3000)
  const isIdle = async () => Number((await tested.database.ask(holding))[0]?.[0]) === 0
  await untilHolds('no session waits for the import', isIdle)
  const report = await load.merge(merged)
  await load.close()
  assert.deepEqual([report.added, report.faultCount], [3000, 0])
})

test('an import leaves nothing in the session that it used', async () => {
  const temporary = `
    select count(*) from pg_class where relpersistence = 't' and relkind = 'r'
      and relname in ('staged_line', 'staged_origin', 'let_go', 'rejected')`
  const load = await tested.store.operator.beginLoad(resource)
  await stage(load, 10_000, 10)
  const options = { ...merged, allowOlder: true, reject: () => {} }
  assert.deepEqual((await load.merge(options)).added, 10)
  await load.close()
  assert.deepEqual(await tested.database.ask(temporary), [['0']])
})

test('a merge past its deadline ends on the server too, and changes nothing', async () => {
  const { database } = tested
  const servers = await openTestOperator(database)
  const store = openPostgresStore({ customers: servers, operator: servers }, () => 0n, {
    ...testLoads,
    mergeMs: 1500,
  })
  const load = await store.operator.beginLoad(resource)
  await stage(load, 20_000, 10)
  await database.ask(`create function bursar.wait() returns trigger language plpgsql as
    $$ begin perform pg_sleep(60); return new; end $$`)
  await database.ask(`create trigger wait before insert on bursar.fiat_account
    for each statement execute function bursar.wait()`)
  try {
    await assert.rejects(load.merge(merged), { name: 'StoreUnavailable' })
    const running = `select count(*) from pg_stat_activity
      where datname = current_database() and query like 'insert into bursar.fiat_account %'
        and state = 'active'`
    const hasEnded = async () => Number((await database.ask(running))[0]?.[0]) === 0
    await untilHolds('the server has ended the statement', hasEnded)
  } finally {
    await database.ask('drop function bursar.wait() cascade')
    await load.close()
    await servers.close()
  }
  const [count] = await database.ask(`
    select count(*) from bursar.fiat_account where id = '${anId(20_001)}'`)
  assert.deepEqual(count, ['0'])
})

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recordCheck } from '../../../src/intake/check.ts'
import { renderRecord } from '../../../src/intake/render.ts'
import { openPostgresTestStore, resourceOf, rules } from '../../support/record-store.ts'
import { aFiatAccount, anId } from '../../support/records.ts'
import { untilHolds } from '../../support/until.ts'

let tested: Awaited<ReturnType<typeof openPostgresTestStore>>
before(async () => {
  tested = await openPostgresTestStore()
})
after(() => tested.close())

/** The sessions of imports that hold a snapshot or a transaction. */
const holding = `
  select count(*) from pg_stat_activity
  where datname = current_database() and usename = 'bursar_operator'
    and (backend_xmin is not null or backend_xid is not null or state <> 'idle')`

test('an import that waits for its input holds no snapshot, so it does not delay VACUUM', async () => {
  const resource = resourceOf('fiat-accounts')
  const check = recordCheck(resource, rules)
  const load = await tested.store.operator.beginLoad(resource)
  // Several batches of COPY.
  const records = Array.from({ length: 3000 }, (_, at) => aFiatAccount({ id: anId(at) }))
  for (const [at, record] of records.entries()) {
    const checked = check(record)
    assert.ok('record' in checked)
    await load.stage(renderRecord(resource, checked.record, at + 1))
  }
  const [begun] = await tested.database.ask(`
    select count(*) from pg_stat_activity where query like 'copy staged%'`)
  assert.equal(Number(begun?.[0]), 1, 'no batch was copied')
  const isIdle = async () => Number((await tested.database.ask(holding))[0]?.[0]) === 0
  await untilHolds('the session of the import is idle', isIdle, 5000)
  const report = await load.merge({ dryRun: false, allowOlder: false })
  await load.close()
  assert.deepEqual([report.added, report.faultCount], [3000, 0])
})

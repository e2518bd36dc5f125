import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemTime } from '@bursar/base'
import { resources } from '@bursar/contract'
import { compareKind } from '@bursar/intake'
import { openSeals, type Statement, storedRows } from '@bursar/records'
import { anId, samples } from '../../../test/support/records.ts'
import { testSealing } from '../../../test/support/test-sealing.ts'
import { describePlans } from '../../records/test/support/postgres-plans.ts'
import { connectTo } from '../../records/test/support/postgres-world.ts'
import { dialect } from '../src/dialect.ts'

const plans = describePlans()

/** The statements of a walk over some records of each kind, each text once. */
async function statementsOfWalk(): Promise<readonly Statement[]> {
  for (const { kind } of resources) {
    const given = [1, 2, 3].map((at) => ({ id: anId(at), ref_id: `r${at}`, customer_id: `c${at}` }))
    await plans.tested.take(kind, given.map(samples[kind]), { takeOver: true })
  }
  const connection = connectTo(plans.tested.database.operatorUrl)
  const sent = new Map<string, Statement>()
  const rows = (statement: Statement) => {
    sent.set(statement.text, statement)
    return connection.rows(statement)
  }
  const transact = () => Promise.reject(new Error('a walk writes nothing'))
  const ofTenant = () => ({ rows })
  const seals = openSeals({ ...testSealing, dialect, clock: systemTime.now, ofTenant, transact })
  const stored = storedRows({ rows }, dialect, seals)
  for (const resource of resources) {
    await Array.fromAsync(compareKind(resource, stored, { rowsMax: () => 2 }))
  }
  await connection.close()
  return [...sent.values()]
}

test('every statement of a walk reads a range or single rows of an index', async () => {
  const statements = await statementsOfWalk()
  assert.ok(statements.length > 30, String(statements.length))
  for (const statement of statements) {
    const plan = await plans.explain(statement)
    const text = [statement.text, ...plan].join('\n')
    assert.doesNotMatch(plan.join('\n'), /Seq Scan|Bitmap|Hash Join|Merge Join/, text)
    for (const [at, line] of plan.entries()) {
      if (!/Index (Only )?Scan/.test(line)) continue
      // The first page begins with the first row.
      if (!/ [<>]=? /.test(statement.text)) continue
      const detail = plan.slice(at + 1, at + 3).join('\n')
      assert.match(detail, /Index Cond/, `${line}\n${text}`)
    }
  }
})

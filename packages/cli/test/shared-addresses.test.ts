import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { aDepositAddress, anId } from '../../../test/support/records.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'

test('doctor and migrate list the addresses that two customers had before there was an owner', async (t) => {
  const folder = temporaryFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'records.db')
  const run = (args: string[], input = '') => runBursar(`sqlite:${path}`, args, input)
  const change = (...statements: string[]) => {
    using db = new DatabaseSync(path)
    for (const sql of statements) db.exec(sql)
  }
  const records = [
    aDepositAddress({ compatible_crypto_networks: ['ETHEREUM', 'BASE'] }),
    aDepositAddress({
      id: anId(2),
      customer_id: 'borealis',
      crypto_network: 'BASE',
      compatible_crypto_networks: ['BASE'],
      created_at: '2026-01-02T00:00:00Z',
    }),
  ]
  await run(['migrate', '--create'])
  for (const record of records) {
    const { code, err } = await run(['import', 'deposit-addresses', '-'], JSON.stringify(record))
    assert.equal(code, 0, err)
    change(`delete from held where member = 'BASE'`)
  }
  // As 0.1.0 left the store.
  change('drop table held', `delete from schema_migration where name = 'held'`)
  const sentence = `deposit-addresses: 0xF0Aa84466e353E5390be37FE2934301c07c19a55 on BASE is held by ${anId(1)} of customer "acme", and ${anId(2)} of customer "borealis" has it too`
  const before = await run(['doctor'])
  assert.ok(
    before.out.includes(`addresses: records of two customers have one address: ${sentence}.`),
    before.out,
  )
  assert.match(before.out, /schema: the store lacks steps of the schema: held\./)
  const migrated = await run(['migrate'])
  assert.equal(migrated.out, `up to date; applied 1 migration: held\n${sentence}\n`)
  assert.equal((await run(['migrate'])).out, 'up to date; there was nothing to apply\n')
  const after = await run(['doctor'])
  assert.ok(after.out.includes(sentence), after.out)
})

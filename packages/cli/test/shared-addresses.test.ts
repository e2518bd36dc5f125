import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { aDepositAddress, anId } from '../../../test/support/records.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'

test('doctor and migrate --check list the addresses that two customers have', async (t) => {
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
    change(`delete from unique_claim where member = 'BASE'`)
    const { code, err } = await run(['import', 'deposit-addresses', '-'], JSON.stringify(record))
    assert.equal(code, 0, err)
  }
  change(`update unique_claim set customer = (select number from customer where id = 'acme')
    where member = 'BASE'`)
  const sentence = `deposit-addresses ${anId(2)} of customer "borealis": its value of BASE is claimed by customer "acme"`
  const { out } = await run(['doctor'])
  assert.ok(out.includes(`such as: ${sentence}`), out)
  const checked = await run(['migrate', '--check'])
  assert.ok(checked.out.includes(`\n${sentence}\n`), checked.out)
})

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { describeService } from '../../../../test/support/describe-service.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'
import { setLimits } from '../../../../test/support/set-limits.ts'
import { retryWhileLocked } from '../../../sqlite/src/locks.ts'

const service = describeService({ store: 'sqlite' })

/** Holds the lock of the records, as a merge does, while the test works. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const merging = new DatabaseSync(service.parts.config.databaseUrl.replace('sqlite:', ''))
  await retryWhileLocked(() => merging.exec('begin immediate'))
  try {
    await work()
  } finally {
    merging.close()
  }
}

test('a record that waits for a merge gets 503 after a time, and fees do not wait', async (t) => {
  setLimits(t, { recordLockedMs: 500 })
  const scopes = ['ingest:write_fiat_accounts'] as const
  const token = await operatorToken(service, 'core', scopes)
  const put = () =>
    service.call(`/ingest/v1/fiat-accounts/${anId(1)}`, {
      token,
      method: 'PUT',
      body: JSON.stringify(aFiatAccount({ id: anId(1) })),
    })
  await whileLocked(async () => {
    const answers = [put(), put()]
    const quote = await service.call('/v2/transfer/fees/crypto-withdrawal', {
      method: 'POST',
      body: JSON.stringify({
        asset: 'USDC',
        crypto_network: 'ETHEREUM',
        destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
        amount: '100.00',
      }),
    })
    const other = operatorToken(service, 'made-meanwhile', scopes)
    assert.deepEqual([quote.status, typeof (await other)], [200, 'string'])
    for (const { status, headers } of await Promise.all(answers)) {
      assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
    }
  })
  assert.equal((await put()).status, 201)
})

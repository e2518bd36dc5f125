import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { openMergeTimes, puttingBesideMerges } from '../../../src/intake/writer/merge-times.ts'
import type { PutRequest } from '../../../src/store/records/put.ts'
import { retryWhileLocked } from '../../../src/store/sqlite/locks.ts'
import { NothingChanged, StoreUnavailable } from '../../../src/store/unavailable.ts'
import { describeService } from '../../support/describe-service.ts'
import { operatorToken } from '../../support/operator-token.ts'
import { resourceOf } from '../../support/record-store.ts'
import { aFiatAccount, anId } from '../../support/records.ts'
import { setLimits } from '../../support/set-limits.ts'
import { takeTime } from '../../support/virtual-time.ts'

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
      assert.equal(status, 503)
      assert.match(headers.get('retry-after') ?? '', /^[1-9][0-9]*$/)
    }
  })
  assert.equal((await put()).status, 201)
})

describe('the time that a merge still takes', () => {
  test('is as long as its records took to be read, until a merge of the kind was measured', async () => {
    using time = takeTime()
    const times = openMergeTimes()
    assert.equal(times.leftMs(), undefined)
    const end = times.begin('statements', 1000, 4000)
    assert.equal(times.leftMs(), 4000)
    await time.advance(1000)
    assert.equal(times.leftMs(), 3000)
    await time.advance(1000)
    end(true)
    assert.equal(times.leftMs(), undefined)
    times.begin('statements', 500, 4000)
    assert.equal(times.leftMs(), 1000)
    times.begin('fiat-accounts', 500, 4000)
    assert.equal(times.leftMs(), 4000)
  })

  test('is a quarter of the time that has passed, once that is longer than expected', async () => {
    using time = takeTime()
    const times = openMergeTimes()
    times.begin('statements', 1000, 4000)
    await time.advance(8000)
    assert.equal(times.leftMs(), 2000)
  })

  test('is not learnt from a merge that stored nothing', async () => {
    using time = takeTime()
    const times = openMergeTimes()
    const end = times.begin('statements', 1000, 4000)
    await time.advance(1)
    end(false)
    times.begin('statements', 1000, 3000)
    assert.equal(times.leftMs(), 3000)
  })
})

describe('a record that a lock refuses', () => {
  const request: PutRequest = {
    record: { customerId: 'acme', id: anId(1), withdraws: true },
    precondition: {},
    allowOlder: false,
    takeOver: false,
    from: { command: 'DELETE', clientId: 'core' },
  }

  test('learns how long the merge will take, or has lasted if it is of another process', async () => {
    using time = takeTime()
    const times = openMergeTimes()
    const refusing = async () => {
      await time.advance(1000)
      throw new NothingChanged('locked')
    }
    const put = puttingBesideMerges(refusing, times.leftMs)
    const told = async () => {
      try {
        return await put(resourceOf('fiat-accounts'), request)
      } catch (error) {
        assert.ok(error instanceof NothingChanged)
        return error.retryAfterMs
      }
    }
    assert.deepEqual([await told(), await told(), await told()], [1000, 2000, 3000])
    times.begin('fiat-accounts', 1000, 60_000)
    assert.equal(await told(), 59_000)
  })

  test('keeps the time that the store has told, and other failures are passed on', async () => {
    for (const failure of [
      new NothingChanged('full', { retryAfterMs: 7 }),
      new StoreUnavailable('lost'),
      new Error('defect'),
    ]) {
      const put = puttingBesideMerges(
        () => Promise.reject(failure),
        () => 60_000,
      )
      const refused = put(resourceOf('fiat-accounts'), request)
      await assert.rejects(refused, (error) => error === failure)
    }
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed, openBackground, openLog } from '@bursar/base'
import { anId } from '../../../test/support/records.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { openChecksumScan, startChecksumScan } from '../src/integrity/checksum-scan.ts'
import { openDamagedRecords } from '../src/integrity/damaged-records.ts'
import type { StoredRows } from '../src/integrity/stored-rows.ts'

test('damaged records are listed up to a bound, and reported once each until they are mended', async () => {
  const reports: string[] = []
  const mended = new Set<number>()
  const report = (...[bound, message = bound]: unknown[]) =>
    void reports.push(String(message).split(';', 1)[0] ?? '')
  const damaged = openDamagedRecords(
    Object.assign(openLog('silent'), { error: report, info: report }),
  )
  const note = (at: number) => {
    const record = { customerId: 'acme', kind: 'statements', id: anId(at), fault: 'no match' }
    return damaged.note(record, async () => mended.has(at))
  }
  const places = Array.from({ length: limitNamed('damageListedMax') + 2 }, (_, at) => at)
  for (const at of places) assert.match(note(at).message, /^statements .*: no match$/)
  for (const at of places) note(at)
  assert.equal(damaged.found().length, limitNamed('damageListedMax'))
  assert.equal(reports.length, limitNamed('damageListedMax') + 1)
  assert.equal(reports.at(-1), 'more damaged records were found than are listed')
  assert.ok(damaged.errorOf('acme', 'statements', anId(0)))
  assert.equal(damaged.errorOf('globex', 'statements', anId(0)), undefined)
  mended.add(0)
  await damaged.lookAgain()
  assert.equal(reports.at(-1), 'a damaged record has been mended')
  assert.equal(damaged.errorOf('acme', 'statements', anId(0)), undefined)
  assert.equal(damaged.found().length, limitNamed('damageListedMax') - 1)
})

describe('the scan for damaged records', () => {
  test('goes on with the kinds while the table of customers cannot be read', async () => {
    const reads: string[] = []
    let isUnreadable = true
    const rows: Pick<StoredRows, 'after' | 'owners'> = {
      after: async ({ kind }) => {
        reads.push(kind)
        return []
      },
      owners: async () => {
        reads.push('customers')
        if (isUnreadable) throw new Error('a damaged page')
        return []
      },
    }
    const damaged = openDamagedRecords(openLog('silent'))
    const { resource } = fiatAccount
    const scan = openChecksumScan([resource], rows as StoredRows, damaged, async () => {})
    for (let round = 0; round < 2; round += 1) {
      assert.equal(await scan.scanNext(), false)
      await assert.rejects(scan.scanNext(), /a damaged page/)
      assert.ok(scan.isFailing())
    }
    isUnreadable = false
    assert.deepEqual([await scan.scanNext(), await scan.scanNext()], [false, true])
    assert.ok(!scan.isFailing())
    const round = ['fiat-accounts', 'customers']
    assert.deepEqual(reads, [...round, ...round, ...round])
  })

  type Step = { readonly fails?: boolean; readonly endsRound?: boolean; readonly tookMs?: number }

  /** Runs the jobs for so long. The steps of the scan end as told, and later ones work. */
  async function watched(forMs: number, scans: boolean, steps: readonly Step[] = []) {
    using time = takeTime()
    const begunAt = time.elapsedMs()
    const now = () => time.elapsedMs() - begunAt
    const warnings: unknown[] = []
    const warn = (bound: unknown) => void warnings.push(bound)
    const [looks, stepsAt]: [number[], number[]] = [[], []]
    let isFailing = false
    const stop = startChecksumScan({
      log: Object.assign(openLog('silent'), { warn }),
      scans,
      background: openBackground(),
      scan: {
        found: () => [],
        lookAgain: async () => void looks.push(now()),
        isFailing: () => isFailing,
        scanNext: async () => {
          const { fails = false, endsRound = false, tookMs = 0 } = steps[stepsAt.length] ?? {}
          isFailing = fails
          stepsAt.push(now())
          if (tookMs > 0) await time.pause(tookMs)
          if (fails) throw new Error('a lock')
          return endsRound
        },
      },
    })
    await time.advance(forMs)
    stop()
    return { looks, stepsAt, warnings: warnings.length }
  }

  test('looks again at damaged records without the right to scan', async () => {
    const { looks, stepsAt } = await watched(3999, false)
    assert.deepEqual(looks, [1000, 2000, 3000])
    assert.deepEqual(stepsAt, [])
  })

  test('pauses after a failure, and warns once until it has worked again', async () => {
    const [fails, works] = [{ fails: true }, {}]
    const { looks, stepsAt, warnings } = await watched(121_199, true, [fails, fails, works, fails])
    assert.deepEqual(stepsAt, [1000, 61_000, 121_000, 121_100])
    assert.equal(looks.length, 121)
    assert.equal(warnings, 2)
  })

  test('rests after a step in proportion to its time, and longer after a round', async () => {
    const { stepsAt } = await watched(64_500, true, [{ tookMs: 50 }, { endsRound: true }])
    const second = 1000 + 50 + 50 * limitNamed('scanRestTimes')
    const third = second + limitNamed('scanRoundRestMs')
    assert.deepEqual(stepsAt.slice(0, 4), [1000, second, third, third + limitNamed('scanRestMs')])
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Background, type Logger, limitNamed, openBackground, openLog } from '@bursar/base'
import { resourceOf } from '../../../test/support/record-store.ts'
import { anId } from '../../../test/support/records.ts'
import { turn } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { startAnnouncing } from '../../server/src/works/withdrawal-fees/announce-consumed.ts'
import { dialect } from '../../sqlite/src/dialect.ts'
import { countRecords } from '../src/across/count-records.ts'
import { startAuditReport } from '../src/audit/report-audit.ts'
import type { AuditLog } from '../src/audit.ts'
import type { FeeQuoteStore } from '../src/fee-quotes.ts'
import { timePrefix } from '../src/position.ts'
import type { Store } from '../src/records.ts'
import type { Reads } from '../src/session.ts'
import { StoreUnavailable } from '../src/unavailable.ts'

type Job = (deps: { log: Logger; background: Background; run: () => void }) => () => unknown

/** When a job runs, from its start to a time, and how often it warns. */
async function runsOf(forMs: number, job: Job) {
  using time = takeTime()
  const begunAt = time.elapsedMs()
  const runs: number[] = []
  let warnings = 0
  const warn = () => {
    warnings += 1
  }
  const log = Object.assign(openLog('silent'), { warn })
  const run = () => void runs.push(time.elapsedMs() - begunAt)
  const stop = job({ log, background: openBackground(), run })
  await time.advance(forMs)
  const seen = [...runs]
  await stop()
  return { runs: seen, warnings }
}

describe('the announcing of consumed fees', () => {
  const fee = { id: anId(1), customerId: 'acme' }

  test('looks every second, and gives an event its time', async () => {
    using time = takeTime()
    const deadlines: number[] = []
    let announced = 0
    const { announceSoon, stop } = startAnnouncing({
      log: openLog('silent'),
      background: openBackground(),
      quotes: {
        operator: {
          withoutEvent: async () => [fee],
          haveEvent: async () => {
            announced += 1
          },
        } as unknown as FeeQuoteStore['operator'],
      },
      store: {
        operator: {
          noteConsumed: async (_fee: unknown, deadline: number) =>
            void deadlines.push(deadline - time.elapsedMs()),
        } as unknown as Store['operator'],
      },
    })
    await time.advance(limitNamed('feesAnnouncedEveryMs') - 1)
    assert.equal(announced, 0)
    await time.advance(1)
    assert.equal(announced, 1)
    announceSoon()
    await turn()
    assert.equal(announced, 2)
    assert.deepEqual(deadlines, [limitNamed('feeAnnouncedMs'), limitNamed('feeAnnouncedMs')])
    stop()
    assert.equal(time.waiting(), 0)
  })
})

test('the counts of the audit log are written every minute, again after a failure', async () => {
  const { runs, warnings } = await runsOf(2 * limitNamed('auditReportMs'), ({ run, ...deps }) => {
    let writes = 0
    const audit = {
      head: () => undefined,
      heads: async () => [],
      write: async () => {
        run()
        if (writes++ === 0) throw new StoreUnavailable('the disk is full')
      },
    } as unknown as AuditLog
    const still = { clock: () => 0n, headsFile: undefined, alwaysShowsHeads: true }
    const report = startAuditReport({ ...deps, audit, ...still })
    report.add('one', () => ({ action: 'open_log', actor: { type: 'program' }, outcome: 'done' }))
    return report.stop
  })
  assert.deepEqual(runs, [limitNamed('auditReportMs'), 2 * limitNamed('auditReportMs')])
  assert.equal(warnings, 1)
})

test('a program that ends in its first minute leaves the heads of other chains to the next', async () => {
  for (const minutes of [0, 1]) {
    let reads = 0
    await runsOf(minutes * limitNamed('auditReportMs'), (deps) => {
      const audit = {
        head: () => undefined,
        heads: async () => {
          reads += 1
          return []
        },
      } as unknown as AuditLog
      const still = { clock: () => 0n, headsFile: undefined, alwaysShowsHeads: true }
      return startAuditReport({ ...deps, audit, ...still }).stop
    })
    assert.equal(reads, 2 * minutes)
  }
})

test('a count ends after the step in which its time is over, and says that there is more', async () => {
  using time = takeTime()
  const row = { customer: 1n, position: timePrefix(1n) }
  const rows: Reads['rows'] = async ({ text }) => {
    if (text.includes('select number, id')) return []
    time.pass(100)
    return Array(limitNamed('acrossRowsTogether')).fill(row)
  }
  const counting = {
    customerId: undefined,
    status: undefined,
    from: undefined,
    until: undefined,
    storedSince: undefined,
  }
  const counted = (ms: number) =>
    countRecords({ rows }, dialect, resourceOf('statements'), {
      counting,
      deadline: time.elapsedMs() + ms,
    })
  for (const [ms, steps] of [
    [0, 0],
    [200, 2],
    [201, 3],
  ] as const) {
    const { count, more } = await counted(ms)
    assert.deepEqual([count, more], [steps * limitNamed('acrossRowsTogether'), true])
  }
})

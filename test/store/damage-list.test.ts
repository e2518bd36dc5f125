import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openBackground } from '../../src/background.ts'
import { asTenant } from '../../src/contract/principal.ts'
import { limits } from '../../src/platform/limits.ts'
import { openLog } from '../../src/platform/log.ts'
import { resources } from '../../src/resources/catalogue.ts'
import { statement } from '../../src/resources/statement.ts'
import { type Damage, type DamageList, openDamageList } from '../../src/store/integrity/damage.ts'
import { openDamageScan, startDamageWatch } from '../../src/store/integrity/damage-scan.ts'
import { intactRecords } from '../../src/store/integrity/intact-records.ts'
import type { StoredRows } from '../../src/store/integrity/stored-rows.ts'
import { StoreCorrupted, StoreDamaged } from '../../src/store/unavailable.ts'
import { anId } from '../support/records.ts'
import { firstPage } from '../support/selection.ts'
import { passingSeals } from '../support/test-sealing.ts'
import { takeTime } from '../support/virtual-time.ts'

/** A list that is full of damaged statements, and what it reported. */
function fullList() {
  const reports: string[] = []
  const mended = new Set<Damage>()
  const report = (...[damage, message = damage]: unknown[]) =>
    void reports.push(String(message).split(';', 1)[0] ?? '')
  const list = openDamageList(Object.assign(openLog('silent'), { error: report, info: report }))
  const note = (kind: string, at: number) => {
    const damage = { customerId: 'acme', kind, id: anId(at), fault: 'no match' }
    list.note(damage, async () => mended.has(damage))
    return () => mended.add(damage)
  }
  const mends = Array.from({ length: limits.damageListedMax }, (_, at) => note('statements', at))
  const mendAll = () => {
    for (const mend of mends) mend()
    return list.lookAgain()
  }
  return { list, note, mendAll, reports: () => reports.splice(0) }
}

const noRows: StoredRows = {
  membersOf: () => undefined,
  after: async () => [],
  find: async () => undefined,
  unpaired: async () => [],
  otherTerms: async () => [],
}

test('processes that know the same damage count the same, each kind by itself', () => {
  const log = openLog('silent')
  const [one, other] = [openDamageList(log), openDamageList(log)]
  const note = (list: DamageList, kind: string) =>
    list.note({ customerId: 'acme', kind, id: anId(1), fault: 'no match' }, async () => false)
  note(one, 'statements')
  note(one, 'statements')
  note(other, 'statements')
  for (const list of [one, other]) {
    list.mark({ kind: 'deposit-addresses', fault: 'damaged' }, async () => false)
    const counts = ['statements', 'deposit-addresses', 'fiat-accounts'].map(list.metIn)
    assert.deepEqual(counts, [1, 1, 0])
  }
})

test('where a check of the tables ends marks, only one that began after the last report does', async () => {
  const list = openDamageList(openLog('silent'), { checkEndsMarks: true })
  const mark = () => list.mark({ kind: 'statements', fault: 'damaged' }, async () => true)
  mark()
  await list.lookAgain()
  const early = list.checking()
  mark()
  early('statements')
  assert.ok(list.errorOf('statements'))
  list.checking()('statements')
  assert.equal(list.errorOf('statements'), undefined)
})

describe('a full list of damage', () => {
  test('keeps the kinds of damage that it has no room for, and says once that there is more', () => {
    const { list, note, reports } = fullList()
    reports()
    assert.equal(list.errorOf('fiat-accounts'), undefined)
    note('fiat-accounts', 1)
    note('fiat-accounts', 2)
    note('deposit-addresses', 3)
    assert.ok(list.errorOf('fiat-accounts'))
    assert.ok(list.errorOf('deposit-addresses'))
    assert.equal(list.found().length, limits.damageListedMax)
    assert.deepEqual(reports(), ['more damaged records were found than are listed'])
  })

  test('forgets such a kind once the scan has compared all of it, and not before', async () => {
    const { list, note, mendAll } = fullList()
    note('fiat-accounts', 1)
    await mendAll()
    assert.deepEqual(list.found(), [])
    assert.equal(list.errorOf('statements'), undefined)
    assert.ok(list.errorOf('fiat-accounts'))
    const failing = openDamageScan(
      resources,
      { ...noRows, after: () => Promise.reject(new Error('no answer')) },
      list,
    )
    for (const _ of resources) await failing.scanNext().catch(() => false)
    assert.ok(list.errorOf('fiat-accounts'))
    const scan = openDamageScan(resources, noRows, list)
    while (!(await scan.scanNext())) assert.ok(true)
    assert.equal(list.errorOf('fiat-accounts'), undefined)
  })

  test('keeps a kind whose damage was found while the scan compared it', async () => {
    const { list, note, mendAll } = fullList()
    note('fiat-accounts', 1)
    const compared = list.comparing('fiat-accounts')
    note('fiat-accounts', 2)
    await mendAll()
    compared()
    assert.ok(list.errorOf('fiat-accounts'))
    list.comparing('fiat-accounts')()
    assert.equal(list.errorOf('fiat-accounts'), undefined)
  })
})

test('a kind whose table the database cannot read has no list and no miss until a read works', async () => {
  const { list, mendAll, reports } = fullList()
  await mendAll()
  reports()
  let isDamaged = true
  const records = intactRecords(
    {
      get: async () => {
        if (isDamaged) throw new StoreCorrupted('XX002: the index is damaged')
        return undefined
      },
      page: async () => ({
        items: new Uint8Array(0),
        rows: 0,
        last: undefined,
        more: false,
        changedAt: 1n,
        salt: 2n,
      }),
      lastChange: async () => ({ changedAt: 1n, salt: 2n }),
    },
    list,
    passingSeals(),
  )
  const acme = asTenant('acme')
  const get = (at: number) => records.get(acme, statement.full, anId(at), false)
  const page = () => records.page(acme, statement.full, firstPage)
  assert.equal((await page()).rows, 0)
  await assert.rejects(get(201), StoreDamaged)
  await assert.rejects(page(), StoreDamaged)
  await assert.rejects(records.revision(acme, statement.full.resource), StoreDamaged)
  await list.lookAgain()
  await assert.rejects(page(), StoreDamaged)
  isDamaged = false
  await assert.rejects(get(202), StoreDamaged)
  await list.lookAgain()
  assert.equal(await get(202), undefined)
  assert.equal((await page()).rows, 0)
  assert.deepEqual(reports(), [
    'a table of this kind is damaged',
    'the tables of this kind have passed a check',
  ])
})

describe('the watch over damage', () => {
  type Step = { readonly fails?: boolean; readonly endsRound?: boolean; readonly tookMs?: number }

  /** Runs the watch for so long. The steps of the scan end as told, and later ones work. */
  async function watched(forMs: number, scans: boolean, steps: readonly Step[] = [], checkMs = 0) {
    using time = takeTime()
    const begunAt = time.elapsedMs()
    const now = () => time.elapsedMs() - begunAt
    const warnings: unknown[] = []
    const warn = (bound: unknown) => void warnings.push(bound)
    const [looks, stepsAt, checksAt]: [number[], number[], number[]] = [[], [], []]
    let isFailing = false
    const stop = startDamageWatch({
      log: Object.assign(openLog('silent'), { warn }),
      scans,
      background: openBackground(),
      damage: {
        found: () => [{ kind: 'statements', id: anId(1), fault: 'no match' }],
        lookAgain: async () => void looks.push(now()),
        met: () => 0,
        checkTables: async () => {
          checksAt.push(now())
          if (checkMs > 0) await time.pause(checkMs)
        },
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
    return { looks, stepsAt, checksAt, warnings: warnings.length }
  }

  test('looks again at known damage without the right to scan', async () => {
    const { looks, stepsAt, checksAt } = await watched(3999, false)
    assert.deepEqual(looks, [1000, 2000, 3000])
    assert.deepEqual([stepsAt, checksAt], [[], []])
  })

  test('pauses the scan after a failure, and warns once until it has worked again', async () => {
    const [fails, works] = [{ fails: true }, {}]
    const { looks, stepsAt, warnings } = await watched(121_199, true, [fails, fails, works, fails])
    assert.deepEqual(stepsAt, [1000, 61_000, 121_000, 121_100])
    assert.equal(looks.length, 121)
    assert.equal(warnings, 2)
  })

  test('rests after a step in proportion to its time, and longer after a round', async () => {
    const { stepsAt } = await watched(64_500, true, [{ tookMs: 50 }, { endsRound: true }])
    const second = 1000 + 50 + 50 * limits.scanRestTimes
    const third = second + limits.scanRoundRestMs
    assert.deepEqual(stepsAt.slice(0, 4), [1000, second, third, third + limits.scanRestMs])
  })

  test('rests after a check of tables in proportion to its time', async () => {
    const short = limits.scanRoundRestMs / limits.recheckRestTimes
    for (const [checkMs, pauseMs] of [
      [short - 1, limits.scanRoundRestMs],
      [short + 1, (short + 1) * limits.recheckRestTimes],
    ] as const) {
      const next = 1000 + checkMs + pauseMs
      assert.deepEqual((await watched(next, true, [], checkMs)).checksAt, [1000, next])
    }
  })
})

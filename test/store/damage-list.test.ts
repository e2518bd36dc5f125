import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openBackground } from '../../src/background.ts'
import { asTenant } from '../../src/contract/principal.ts'
import { limits } from '../../src/platform/limits.ts'
import { openLog } from '../../src/platform/log.ts'
import { systemTime } from '../../src/platform/time.ts'
import { resources } from '../../src/resources/catalogue.ts'
import { statement } from '../../src/resources/statement.ts'
import {
  type Damage,
  type DamageList,
  type KeptMarks,
  openDamageList,
} from '../../src/store/integrity/damage.ts'
import { openDamageScan, startDamageWatch } from '../../src/store/integrity/damage-scan.ts'
import { intactRecords } from '../../src/store/integrity/intact-records.ts'
import type { StoredRows } from '../../src/store/integrity/stored-rows.ts'
import { StoreCorrupted, StoreDamaged } from '../../src/store/unavailable.ts'
import { anId } from '../support/records.ts'
import { firstPage } from '../support/selection.ts'
import { passingSeals } from '../support/test-sealing.ts'
import { turn } from '../support/until.ts'

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

test('processes that know the same damage count the same, each kind by itself', async () => {
  const marked = new Map<string, string>()
  const kept: KeptMarks = {
    all: () => new Map(marked),
    add: (kind, fault) => void marked.set(kind, fault),
    remove: (kind) => void marked.delete(kind),
  }
  const log = openLog('silent')
  const [one, other] = [openDamageList(log, kept), openDamageList(log, kept)]
  const note = (list: DamageList, kind: string) =>
    list.note({ customerId: 'acme', kind, id: anId(1), fault: 'no match' }, async () => false)
  note(one, 'statements')
  note(one, 'statements')
  one.mark({ kind: 'deposit-addresses', fault: 'damaged' }, async () => false)
  await other.lookAgain()
  note(other, 'statements')
  for (const list of [one, other]) {
    const counts = ['statements', 'deposit-addresses', 'fiat-accounts'].map(list.metIn)
    assert.deepEqual(counts, [1, 1, 0])
  }
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
      }),
      changedAt: async () => 1n,
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
  /** Runs the watch for so long, by its own timers. `steps` tell how each step of the scan ends. */
  async function watched(
    forMs: number,
    scans: boolean,
    steps: readonly ('fails' | 'works')[] = [],
  ) {
    let now = 0
    const due: { at: number; task: () => void }[] = []
    const warnings: unknown[] = []
    const warn = (bound: unknown) => void warnings.push(bound)
    const log = Object.assign(openLog('silent'), { warn })
    const [looks, stepsAt]: [number[], number[]] = [[], []]
    let isFailing = false
    const stop = startDamageWatch({
      log,
      scans,
      elapsedMs: () => now,
      damage: {
        found: () => [{ kind: 'statements', id: anId(1), fault: 'no match' }],
        lookAgain: async () => void looks.push(now),
        met: () => 0,
        checkTables: async () => {},
        isFailing: () => isFailing,
        scanNext: async () => {
          isFailing = steps[stepsAt.length] === 'fails'
          stepsAt.push(now)
          if (isFailing) throw new Error('a lock')
          return false
        },
      },
      background: openBackground(systemTime.now, {
        after: (delayMs, task) => {
          due.push({ at: now + delayMs, task })
          return () => {}
        },
      }),
    })
    for (let next = due.shift(); next !== undefined && next.at <= forMs; next = due.shift()) {
      now = next.at
      next.task()
      await turn()
      due.sort((one, other) => one.at - other.at)
    }
    stop()
    return { looks, stepsAt, warnings: warnings.length }
  }

  test('looks again at known damage without the right to scan', async () => {
    const { looks, stepsAt } = await watched(3000, false)
    assert.deepEqual(looks, [1000, 2000, 3000])
    assert.deepEqual(stepsAt, [])
  })

  test('pauses the scan after a failure, and warns once until it has worked again', async () => {
    const steps = ['fails', 'fails', 'works', 'fails'] as const
    const { looks, stepsAt, warnings } = await watched(121_200, true, steps)
    assert.deepEqual(stepsAt, [1000, 61_000, 121_000, 121_100])
    assert.equal(looks.length, 121)
    assert.equal(warnings, 2)
  })
})

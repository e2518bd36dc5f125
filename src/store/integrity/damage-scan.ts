import type { Background } from '../../background.ts'
import type { Resource } from '../../contract/resource.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { systemTime } from '../../platform/time.ts'
import { sharedTables, tablesOf } from '../schema/tables.ts'
import { StoreDamaged } from '../unavailable.ts'
import type { DamageList } from './damage.ts'
import {
  comesAfter,
  type RowKey,
  rowFaults,
  type StoredRow,
  type StoredRows,
} from './stored-rows.ts'

/** Compares tables with their indexes. Resolves with the fault of each damaged table. */
export type CheckTables = (tables: readonly string[]) => Promise<ReadonlyMap<string, string>>

/** The background search for damage, one step at a time. */
export type DamageScan = Pick<DamageList, 'found' | 'met' | 'lookAgain'> & {
  /**
   * Checks every table as a whole. Marks the kinds of those that are damaged, and ends the marks of
   * the others. Does nothing for a store that cannot check tables.
   */
  checkTables(): Promise<void>
  /**
   * Compares the next stored records with their checksums. True at the end of a round. Rejects if
   * it cannot read; the next step then goes on with the next kind.
   */
  scanNext(): Promise<boolean>
  /** Whether the last step of some kind failed. */
  isFailing(): boolean
}

/** Compares the checksums and the pairs of all records, kind by kind, round after round. */
export function openDamageScan(
  resources: readonly Resource[],
  rows: StoredRows,
  damage: DamageList,
  check?: CheckTables,
): DamageScan {
  let at = 0
  let key: RowKey | undefined
  let compared = () => {}
  const failing = new Set<string>()
  const nextKind = () => {
    at += 1
    key = undefined
  }
  const compare = (resource: Resource, row: StoredRow) => {
    const [fault] = rowFaults(resource, row)
    if (fault === undefined) return
    const { customerId, id } = row
    damage.note({ customerId, kind: resource.kind, id, fault }, async () => {
      const now = await rows.find(resource, customerId, id)
      return now === undefined || rowFaults(resource, now).length === 0
    })
  }
  const readNext = async (resource: Resource) => {
    const from = key
    const { kind } = resource
    if (from === undefined) compared = damage.comparing(kind)
    try {
      const found = await damage.reading(kind, () => rows.after(resource, from, limits.scanRows))
      failing.delete(kind)
      for (const row of found) compare(resource, row)
      const last = found.at(-1)
      if (last === undefined || found.length < limits.scanRows) {
        compared()
        return nextKind()
      }
      // A damaged key could lead the scan back to where it was.
      if (from !== undefined && !comesAfter(last, from)) return nextKind()
      key = last
    } catch (error) {
      nextKind()
      const isFailure = !(error instanceof StoreDamaged)
      failing[isFailure ? 'add' : 'delete'](kind)
      if (isFailure) throw error
    }
  }
  return {
    found: damage.found,
    met: damage.met,
    lookAgain: damage.lookAgain,
    async checkTables() {
      if (check === undefined) return
      const passed = damage.checking()
      const faults = await check([...sharedTables, ...resources.flatMap(tablesOf)])
      for (const resource of resources) {
        const { kind } = resource
        const tables = [...sharedTables, ...tablesOf(resource)]
        const [fault] = tables.flatMap((table) => faults.get(table) ?? [])
        if (fault === undefined) passed(kind)
        else damage.mark({ kind, fault }, async () => false)
      }
    },
    isFailing: () => failing.size > 0,
    async scanNext() {
      const resource = resources[at]
      if (resource !== undefined) await readNext(resource)
      if (at < resources.length) return false
      at = 0
      return true
    },
  }
}

type WatchDeps = {
  readonly damage: DamageScan
  /** Whether the process sees every customer's records. Its own reads find damage too. */
  readonly scans: boolean
  readonly log: Logger
  readonly background: Background
}

/** Looks again at known damage, and scans, while the service runs. Returns what stops it. */
export function startDamageWatch({ damage, scans, log, background }: WatchDeps): () => void {
  let metAtCheck = damage.met()
  let isStopped = false
  let isTold = false
  const warnOnce = (error: unknown) => {
    if (!isStopped && !isTold) {
      log.warn({ err: error }, 'stored records cannot be scanned for damage')
    }
    isTold = true
  }
  const check = async () => {
    metAtCheck = damage.met()
    const startedAt = systemTime.elapsedMs()
    let isFailed = false
    await damage.checkTables().catch((error) => {
      isFailed = true
      warnOnce(error)
    })
    const times = damage.found().length > 0 ? limits.recheckRestTimes : limits.tableCheckRestTimes
    const pauseMs = Math.max(limits.scanRoundRestMs, times * (systemTime.elapsedMs() - startedAt))
    return { pauseMs, isFailed }
  }
  const step = async () => {
    const startedAt = systemTime.elapsedMs()
    try {
      const isRoundOver = await damage.scanNext()
      if (!damage.isFailing()) isTold = false
      const restMs = isRoundOver ? limits.scanRoundRestMs : limits.scanRestMs
      const pauseMs = Math.max(restMs, limits.scanRestTimes * (systemTime.elapsedMs() - startedAt))
      return { pauseMs }
    } catch (error) {
      warnOnce(error)
      return { pauseMs: limits.scanFailedRestMs, isFailed: true }
    }
  }
  const soon = { firstMs: limits.damageLookMs }
  const scan = scans ? background.start('compare-checksums', step, soon) : undefined
  const checks = scans ? background.start('check-tables', check, soon) : undefined
  const looks = background.start('recheck-damage', async () => {
    await damage.lookAgain()
    // Damage of one record may be that of a page, so new damage is a reason to check the tables.
    if (damage.met() !== metAtCheck) void checks?.runSoon()
  })
  return () => {
    isStopped = true
    looks.stop()
    scan?.stop()
    checks?.stop()
  }
}

import type { Resource } from '../../contract/resource.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { repeat, type Schedule } from '../../platform/schedule.ts'
import { StoreDamaged } from '../unavailable.ts'
import type { Damage, DamageList } from './damage.ts'
import {
  comesAfter,
  type RowKey,
  rowFaults,
  type StoredRow,
  type StoredRows,
} from './stored-row.ts'

/** The background search for damage, one step at a time. */
export type DamageScan = Pick<DamageList, 'found' | 'lookAgain'> & {
  /**
   * Verifies the next stored records. True at the end of a round. Rejects where it cannot read; the
   * next step then goes on with the next kind.
   */
  scanNext(): Promise<boolean>
  /** Whether the last step of some kind failed. */
  isFailing(): boolean
}

/** Verifies the checksums and the pairs of all records, kind by kind, round after round. */
export function openDamageScan(
  resources: readonly Resource[],
  rows: StoredRows,
  damage: DamageList,
): DamageScan {
  let at = 0
  let key: RowKey | undefined
  let verified = () => {}
  const failing = new Set<string>()
  const nextKind = () => {
    at += 1
    key = undefined
  }
  const verify = (resource: Resource, row: StoredRow) => {
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
    if (from === undefined) verified = damage.verifying(resource.kind)
    const read = () => rows.after(resource, from, limits.scanRows)
    try {
      const found = await read()
      failing.delete(resource.kind)
      for (const row of found) verify(resource, row)
      const last = found.at(-1)
      if (last === undefined || found.length < limits.scanRows) {
        verified()
        return nextKind()
      }
      // A damaged key could lead the scan back to where it was.
      if (from !== undefined && !comesAfter(last, from)) return nextKind()
      key = last
    } catch (error) {
      if (!(error instanceof StoreDamaged)) {
        failing.add(resource.kind)
        nextKind()
        throw error
      }
      failing.delete(resource.kind)
      const fault = `the store cannot read it: ${error.message}`
      damage.note({ kind: resource.kind, fault }, () => read().then(() => true))
      nextKind()
    }
  }
  return {
    found: damage.found,
    lookAgain: damage.lookAgain,
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
  readonly schedule?: Schedule
}

/** Looks again at known damage, and scans, while the service runs. Returns what stops it. */
export function startDamageWatch({ damage, scans, log, schedule }: WatchDeps): () => void {
  let roundEndedAt = Number.NEGATIVE_INFINITY
  let isStopped = false
  let isTold = false
  const look = async () => {
    if (damage.found().length > 0) await damage.lookAgain()
    return limits.damageLookMs
  }
  const step = async () => {
    if (performance.now() - roundEndedAt < limits.scanRoundRestMs) return limits.damageLookMs
    try {
      const isRoundOver = await damage.scanNext()
      if (!damage.isFailing()) isTold = false
      if (!isRoundOver) return limits.scanRestMs
      roundEndedAt = performance.now()
      return limits.damageLookMs
    } catch (error) {
      if (!isStopped && !isTold) {
        log.warn({ err: error }, 'stored records cannot be scanned for damage')
      }
      isTold = true
      return limits.scanFailedRestMs
    }
  }
  const looks = repeat(look, limits.damageLookMs, schedule)
  const scan = scans ? repeat(step, limits.damageLookMs, schedule) : undefined
  return () => {
    isStopped = true
    looks.stop()
    scan?.stop()
  }
}

/** Logs damage as it is found and mended. Neither names a value of the record. */
export const logDamage = (log: Logger) => ({
  onFound: (damage: Damage) =>
    log.error(
      damage,
      'a stored record is damaged; requests for it get 503 until it is imported again or restored',
    ),
  onMended: (damage: Damage) => log.info(damage, 'a damaged record has been mended'),
  onMore: () =>
    log.error(
      'more damaged records were found than are listed; `bursar migrate --check` names the first 1,000',
    ),
})

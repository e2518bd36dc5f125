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
  /** Verifies the next stored records. True once every record has been verified. */
  scanNext(): Promise<boolean>
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
      if (!(error instanceof StoreDamaged)) throw error
      const fault = `the store cannot read it: ${error.message}`
      damage.note({ kind: resource.kind, fault }, () => read().then(() => true))
      nextKind()
    }
  }
  return {
    found: damage.found,
    lookAgain: damage.lookAgain,
    async scanNext() {
      const resource = resources[at]
      if (resource !== undefined) await readNext(resource)
      if (at < resources.length) return false
      at = 0
      return true
    },
  }
}

type ScanDeps = {
  readonly scan: DamageScan
  readonly log: Logger
  readonly schedule?: Schedule
}

/** Scans for as long as the service runs. Returns the function that stops it. */
export function startDamageScan({ scan, log, schedule }: ScanDeps): () => void {
  let roundEndedAt = Number.NEGATIVE_INFINITY
  let isStopped = false
  const step = async () => {
    try {
      if (scan.found().length > 0) await scan.lookAgain()
      if (performance.now() - roundEndedAt < limits.scanRoundRestMs) return limits.damageLookMs
      if (!(await scan.scanNext())) return limits.scanRestMs
      roundEndedAt = performance.now()
    } catch (error) {
      if (!isStopped) log.warn({ err: error }, 'stored records cannot be scanned for damage')
    }
    return limits.damageLookMs
  }
  const { stop } = repeat(step, limits.damageLookMs, schedule)
  return () => {
    isStopped = true
    stop()
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

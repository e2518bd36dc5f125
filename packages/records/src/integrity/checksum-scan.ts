import { type Background, baseLimits, type Logger, limitsOf, systemTime } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import { StoreDamaged } from '../unavailable.ts'
import type { DamagedRecords } from './damaged-records.ts'
import type { RowKey } from './derived-rows.ts'
import type { RequireOwner } from './owners.ts'
import { comesAfter, rowFaults, type StoredRow, type StoredRows } from './stored-rows.ts'

const limits = limitsOf({
  /**
   * Rows of one step of the scan for damage, and its pauses: at most 1,000 rows a second, and at
   * most 3 % of a core. A step takes 0.5 ms, and some milliseconds where it opens sealed records.
   */
  scanRows: 100,
  scanRestMs: 100,
  scanRestTimes: 32,
  /** Pause of the scan after a step that failed, such as one that found a whole table locked. */
  scanFailedRestMs: 60_000,
})

/** The background search for damaged records, one step at a time. */
export type ChecksumScan = Pick<DamagedRecords, 'found' | 'lookAgain'> & {
  /**
   * Compares the next stored records with their checksums. True at the end of a round. Rejects if
   * it cannot read; the next step then goes on with the next kind.
   */
  scanNext(): Promise<boolean>
  /** Whether the last step of some kind failed. */
  isFailing(): boolean
}

/** Beside the kinds, what may fail. */
const OWNERS = 'customers'

/** Compares all records, kind by kind, and then all customers, round after round. */
export function openChecksumScan(
  resources: readonly Resource[],
  rows: StoredRows,
  damaged: DamagedRecords,
  requireOwner: RequireOwner,
): ChecksumScan {
  let at = 0
  let ownersAfter = 0n
  let key: RowKey | undefined
  const failing = new Set<string>()
  const nextKind = () => {
    at += 1
    key = undefined
  }
  const compare = (resource: Resource, row: StoredRow) => {
    const [fault] = rowFaults(resource, row)
    if (fault === undefined) return
    const { customerId, id } = row
    damaged.note({ customerId, kind: resource.kind, id, fault }, async () => {
      const now = await rows.find(resource, customerId, id)
      return now === undefined || rowFaults(resource, now).length === 0
    })
  }
  const readNext = async (resource: Resource) => {
    const from = key
    try {
      const found = await rows.after(resource, from, limits.scanRows)
      failing.delete(resource.kind)
      for (const row of found) compare(resource, row)
      const last = found.at(-1)
      if (last === undefined || found.length < limits.scanRows) return nextKind()
      // A damaged key could lead the scan back to where it was.
      if (from !== undefined && !comesAfter(last, from)) return nextKind()
      key = last
    } catch (error) {
      nextKind()
      failing.add(resource.kind)
      throw error
    }
  }
  const endRound = () => {
    at = 0
    ownersAfter = 0n
  }
  /** Compares the next customers. True at the end of the round. */
  const compareOwners = async () => {
    try {
      const found = await rows.owners(ownersAfter, limits.scanRows)
      failing.delete(OWNERS)
      for (const { customerId, owner } of found) {
        await requireOwner(customerId, owner).catch((error: unknown) => {
          if (!(error instanceof StoreDamaged)) throw error
        })
      }
      const last = found.at(-1)
      const isLast = last === undefined || found.length < limits.scanRows
      if (isLast) endRound()
      else ownersAfter = last.number
      return isLast
    } catch (error) {
      endRound()
      failing.add(OWNERS)
      throw error
    }
  }
  return {
    found: damaged.found,
    lookAgain: damaged.lookAgain,
    isFailing: () => failing.size > 0,
    async scanNext() {
      const resource = resources[at]
      if (resource === undefined) return await compareOwners()
      await readNext(resource)
      return false
    },
  }
}

type ScanDeps = {
  readonly scan: ChecksumScan
  /** Whether the process sees every customer's records. Its own reads find damage too. */
  readonly scans: boolean
  readonly log: Logger
  readonly background: Background
}

/** Looks again at damaged records, and scans, while the service runs. Returns what stops it. */
export function startChecksumScan({ scan, scans, log, background }: ScanDeps): () => void {
  let isStopped = false
  let isTold = false
  const step = async () => {
    const startedAt = systemTime.elapsedMs()
    try {
      const isRoundOver = await scan.scanNext()
      if (!scan.isFailing()) isTold = false
      const restMs = isRoundOver ? baseLimits.scanRoundRestMs : limits.scanRestMs
      const pauseMs = Math.max(restMs, limits.scanRestTimes * (systemTime.elapsedMs() - startedAt))
      return { pauseMs }
    } catch (error) {
      if (!isStopped && !isTold) {
        log.warn({ err: error }, 'stored records cannot be scanned for damage')
      }
      isTold = true
      return { pauseMs: limits.scanFailedRestMs, isFailed: true }
    }
  }
  const soon = { firstMs: baseLimits.damageLookMs }
  const steps = scans ? background.start('compare-checksums', step, soon) : undefined
  const looks = background.start('recheck-damage', scan.lookAgain)
  return () => {
    isStopped = true
    looks.stop()
    steps?.stop()
  }
}

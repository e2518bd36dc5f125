import { type Logger, limitsOf } from '@bursar/base'
import { StoreDamaged } from '../unavailable.ts'
import { shownId } from './stored-rows.ts'

const limits = limitsOf({
  /** Damaged records that a process lists. With more, restoring a backup is the answer. */
  damageListedMax: 100,
})

/** A stored record that cannot be answered as it was imported. */
export type DamagedRecord = { readonly kind: string; readonly id: string; readonly fault: string }

/** The same as it was read. The customer is compared and never shown. */
type ReadRecord = DamagedRecord & { readonly customerId: string }

/** The damaged records that this process has found and that are not mended yet. */
export type DamagedRecords = {
  /**
   * Adds a record and reports it, once. Returns the error for the request that read it. `isMended`
   * reads the record again, and rejects if it cannot.
   */
  note(record: ReadRecord, isMended: () => Promise<boolean>): StoreDamaged
  /** The error for a record that is known to be damaged. */
  errorOf(customerId: string, kind: string, id: string): StoreDamaged | undefined
  /** At most `damageListedMax`. */
  found(): readonly DamagedRecord[]
  /** Forgets what has been mended. */
  lookAgain(): Promise<void>
}

type Known = { readonly record: DamagedRecord; readonly isMended: () => Promise<boolean> }

/** The log names no value of a record. */
export function openDamagedRecords(log: Logger): DamagedRecords {
  const known = new Map<string, Known>()
  let hasMore = false
  return {
    note({ customerId, kind, id, fault }, isMended) {
      const record = { kind, id: shownId(id), fault }
      const key = keyOf(customerId, kind, id)
      if (!known.has(key) && known.size < limits.damageListedMax) {
        known.set(key, { record, isMended })
        log.error(record, FOUND)
      } else if (!known.has(key) && !hasMore) {
        hasMore = true
        log.error(MORE)
      }
      return errorFor(record)
    },
    errorOf: (...name) => {
      const found = known.get(keyOf(...name))
      return found && errorFor(found.record)
    },
    found: () => [...known.values()].map(({ record }) => record),
    async lookAgain() {
      for (const [key, { record, isMended }] of [...known]) {
        // A store that cannot be read has not been mended.
        if (!(await isMended().catch(() => false))) continue
        known.delete(key)
        hasMore = false
        log.info(record, 'a damaged record has been mended')
      }
    },
  }
}

const errorFor = ({ kind, id, fault }: DamagedRecord) => new StoreDamaged(`${kind} ${id}: ${fault}`)

/** A customer may have any name, so the text is one that no two keys share. */
const keyOf = (...key: readonly [customerId: string, kind: string, id: string]): string =>
  JSON.stringify(key)

const FOUND =
  'a stored record is damaged; requests for it get 503 until it is imported again or restored'
const MORE =
  'more damaged records were found than are listed; `bursar migrate --check` names the first 1,000'

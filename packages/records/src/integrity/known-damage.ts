import { limitsOf, systemTime } from '@bursar/base'
import { StoreDamaged } from '../unavailable.ts'
import { shownId } from './stored-rows.ts'

const limits = limitsOf({
  /** How long a damaged record that a request has read counts as known. */
  damageKnownMs: 600_000,
})

/** A stored record that cannot be answered as it was imported. */
export type DamagedRecord = { readonly kind: string; readonly id: string; readonly fault: string }

/** How many stored records of each kind a process knows to be damaged, and not which. */
export type KnownDamage = {
  /** The error for a request that has read a damaged record. */
  noteRead(record: DamagedRecord): StoreDamaged
  /** Counts one that a walk over all records has found. */
  noteFound(kind: string): void
  /** Forgets what the walk before the one that ends has found. */
  endWalk(): void
  /** By kind: what the last walk has found, or the present one if that is more. Never 0. */
  counts(): ReadonlyMap<string, number>
}

/**
 * A record that was mended counts until a walk has passed all records. One that only a request has
 * read counts as one, for a while.
 */
export function openKnownDamage(): KnownDamage {
  const readAt = new Map<string, number>()
  let last: ReadonlyMap<string, number> = new Map()
  let present = new Map<string, number>()
  return {
    noteRead({ kind, id, fault }) {
      readAt.set(kind, systemTime.elapsedMs())
      return new StoreDamaged(`${kind} ${shownId(id)}: ${fault}`)
    },
    noteFound: (kind) => void present.set(kind, (present.get(kind) ?? 0) + 1),
    endWalk() {
      last = present
      present = new Map()
    },
    counts() {
      const since = systemTime.elapsedMs() - limits.damageKnownMs
      const read = [...readAt].flatMap(([kind, at]) => (at > since ? [kind] : []))
      const kinds = new Set([...read, ...last.keys(), ...present.keys()])
      return new Map(
        [...kinds].map((kind) => [
          kind,
          Math.max(last.get(kind) ?? 0, present.get(kind) ?? 0, read.includes(kind) ? 1 : 0),
        ]),
      )
    },
  }
}

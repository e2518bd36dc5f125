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
  /** Counts some that a walk over all records has found. */
  noteFound(kind: string, count: number): void
  /** Forgets what the walk before has found, if the one that ends has read all records. */
  endWalk(isWhole: boolean): void
  /** By kind: what the last walk has found, or the present one if that is more. Never 0. */
  counts(): Counts
}

/**
 * A record that was mended counts until a walk has passed all records. One that only a request has
 * read counts as one, for a while.
 */
export function openKnownDamage(): KnownDamage {
  const readAt = new Map<string, number>()
  let last: Counts = new Map()
  let present = new Map<string, number>()
  return {
    noteRead({ kind, id, fault }) {
      readAt.set(kind, systemTime.elapsedMs())
      return new StoreDamaged(`${kind} ${shownId(id)}: ${fault}`)
    },
    noteFound: (kind, count) => void present.set(kind, (present.get(kind) ?? 0) + count),
    endWalk(isWhole) {
      last = isWhole ? present : largest(last, present)
      present = new Map()
    },
    counts() {
      const since = systemTime.elapsedMs() - limits.damageKnownMs
      const read = [...readAt].filter(([, at]) => at > since)
      return largest(last, present, new Map(read.map(([kind]) => [kind, 1])))
    },
  }
}

type Counts = ReadonlyMap<string, number>

/** The largest count of each kind. */
function largest(...all: readonly Counts[]): Counts {
  const counts = new Map<string, number>()
  for (const [kind, count] of all.flatMap((one) => [...one])) {
    if (count > 0) counts.set(kind, Math.max(count, counts.get(kind) ?? 0))
  }
  return counts
}

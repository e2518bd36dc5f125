import { systemTime } from '../../platform/time.ts'
import type { OperatorRecords } from '../../store/records.ts'
import { NothingChanged } from '../../store/unavailable.ts'

/** How long the merges of a process take, to tell others how long a lock will last. */
export type MergeTimes = {
  /**
   * Notes the begin of a merge. `readMs` is how long its records took to be read, which is the
   * estimate until a merge of the kind was measured. Returns what notes its end.
   */
  begin(kind: string, records: number, readMs: number): (isStored: boolean) => void
  /** How long the merges that run will still take. Undefined if none runs. */
  leftMs(): number | undefined
}

const now = () => systemTime.elapsedMs()

type Running = { readonly begunAt: number; readonly expectedMs: number }

export function openMergeTimes(): MergeTimes {
  const msPerRecord = new Map<string, number>()
  const running = new Set<Running>()
  return {
    begin: (kind, records, readMs) => {
      const rate = msPerRecord.get(kind)
      const merge = { begunAt: now(), expectedMs: rate === undefined ? readMs : rate * records }
      running.add(merge)
      return (isStored) => {
        if (!running.delete(merge) || !isStored || records === 0) return
        const measured = (now() - merge.begunAt) / records
        // The newest merge counts as much as all before it.
        msPerRecord.set(kind, rate === undefined ? measured : (rate + measured) / 2)
      }
    },
    leftMs: () => (running.size === 0 ? undefined : Math.max(...[...running].map(leftOf(now())))),
  }
}

/** A merge that takes longer than expected is taken to need a quarter of its time again. */
const leftOf =
  (at: number) =>
  ({ begunAt, expectedMs }: Running): number => {
    const elapsed = at - begunAt
    return elapsed < expectedMs ? expectedMs - elapsed : elapsed / 4
  }

/**
 * Stores single records. One that is refused because of a merge learns how long the merge will
 * still take. A lock of another process is taken to last as long again as it has lasted.
 */
export function puttingBesideMerges(
  put: OperatorRecords['put'],
  leftMs: MergeTimes['leftMs'],
): OperatorRecords['put'] {
  let refusedSince: number | undefined
  const explained = (error: unknown, askedAt: number): unknown => {
    if (!(error instanceof NothingChanged) || error.retryAfterMs !== undefined) return error
    refusedSince ??= askedAt
    const retryAfterMs = leftMs() ?? now() - refusedSince
    return new NothingChanged(error.message, { cause: error, retryAfterMs })
  }
  return async (...request) => {
    const askedAt = now()
    try {
      const outcome = await put(...request)
      refusedSince = undefined
      return outcome
    } catch (error) {
      throw explained(error, askedAt)
    }
  }
}

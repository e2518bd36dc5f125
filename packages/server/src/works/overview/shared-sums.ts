import { keepRecentlyUsed, limitsOf, systemTime } from '@bursar/base'
import type { OperatorPrincipal } from '@bursar/contract'

const limits = limitsOf({
  /** How old a shared sum may be, from when its computation began. */
  sharedSumAgeMs: 5000,
  /** Sums that are kept, of at most some 100 KB each. */
  sharedSumsMax: 100,
})

/** The caller must have been authorized. `customerId` narrows the set that it may see. */
type Asked = Pick<OperatorPrincipal, 'boundTo'> & { readonly customerId: string | undefined }

type Kept<Sum> = { readonly sum: Promise<Sum>; until: number }

/**
 * Shares sums between callers that may see the same customers, and computes at most one at a time
 * for each such set. `compute` sees nothing of the caller but the customer.
 */
export function shareSums<Sum>(compute: (customerId: string | undefined) => Promise<Sum>) {
  const kept = keepRecentlyUsed<string, Kept<Sum>>(limits.sharedSumsMax)
  const running = new Map<OperatorPrincipal['boundTo'], Promise<unknown>>()
  return ({ boundTo, customerId }: Asked): Promise<Sum> => {
    const key = JSON.stringify([boundTo, customerId])
    const known = kept.get(key)
    if (known !== undefined && systemTime.elapsedMs() < known.until) return known.sum
    const begin = async () => {
      const until = systemTime.elapsedMs() + limits.sharedSumAgeMs
      const sum = await compute(customerId)
      one.until = until
      return sum
    }
    const sum = (running.get(boundTo) ?? Promise.resolve()).then(begin)
    const one: Kept<Sum> = { sum, until: Number.POSITIVE_INFINITY }
    kept.set(key, one)
    // A failure answers those who wait for it, and nobody later.
    const ended = sum
      .catch(() => kept.delete(key))
      .then(() => {
        if (running.get(boundTo) === ended) running.delete(boundTo)
      })
    running.set(boundTo, ended)
    return sum
  }
}

import { largest, smallest } from './bounds.ts'
import type { Instant } from './instant.ts'

export type BoundOperator = 'lt' | 'lte' | 'eq' | 'gte' | 'gt'

/** A range of times in microseconds: from ≤ time < before. */
export type TimeRange = { readonly from: bigint | undefined; readonly before: bigint | undefined }

/**
 * A bound as the exact half-open range from ≤ at < before. Stored times are whole microseconds, so
 * a finer bound lies between two of them.
 */
export function rangeOfBound(operator: BoundOperator, { micros, finer }: Instant): TimeRange {
  const next = micros + 1n
  const atOrAfter = finer ? next : micros
  switch (operator) {
    case 'lt':
      return { from: undefined, before: atOrAfter }
    case 'lte':
      return { from: undefined, before: next }
    case 'gte':
      return { from: atOrAfter, before: undefined }
    case 'gt':
      return { from: next, before: undefined }
    case 'eq':
      // Nothing stored equals a time finer than a microsecond.
      return { from: micros, before: finer ? micros : next }
  }
}

/** The times that are in every range. */
export function intersection(ranges: readonly TimeRange[]): TimeRange {
  const [from, ...laterFroms] = ranges.flatMap((range) => range.from ?? [])
  const [before, ...laterBefores] = ranges.flatMap((range) => range.before ?? [])
  return {
    from: from === undefined ? undefined : largest(from, ...laterFroms),
    before: before === undefined ? undefined : smallest(before, ...laterBefores),
  }
}

import type { Clock, Instant } from '@bursar/base'
import { described, instant } from './fields.ts'
import { problem } from './problem.ts'

export const asOf = described(instant, 'What was stored at this time; now where it is absent.')

export const pastUnknownText =
  'The time is before the one since which these records are kept; `meta.kept_since` names it.'

/** The microseconds of an `as_of` that has come; undefined where none is given. */
export function pastInstant(given: unknown, clock: Clock): bigint | undefined {
  if (given === undefined) return undefined
  const { micros } = given as Instant
  if (micros <= clock()) return micros
  throw problem('malformed', 'as_of must not be in the future')
}

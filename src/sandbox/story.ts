import { printInstant } from '../values/instant.ts'
import { cycle, drawUuid } from './seeded.ts'

/** The newest record of every kind is this old; the others lie behind it. */
const NEWEST_MICROS = 1_793_448_000_000_000n // 2026-10-31T12:00:00Z

const HOUR_MICROS = 3_600_000_000n

/**
 * When the `at`-th newest record was made: seven hours apart, but every fifth shares its time with the one before it
 * (a tie that only the id breaks), and fractions of 0, 3 and 6 digits take turns.
 */
export function createdAt(at: number): string {
  const moment = at % 5 === 4 ? at - 1 : at
  const fraction = cycle([0n, 250_000n, 123_456n], moment)
  return printInstant(NEWEST_MICROS - BigInt(moment) * 7n * HOUR_MICROS + fraction)
}

/** Three profiles of a customer; `main` is the one that the README looks up. */
export const profileId = (customer: string, at: number): string =>
  drawUuid(`${customer} profile ${cycle(['main', 'treasury', 'payroll'], at)}`)

export const identityId = (customer: string, at: number): string =>
  drawUuid(`${customer} identity ${at % 40}`)

export const accountId = (customer: string, at: number): string =>
  drawUuid(`${customer} end user account ${at % 60}`)

export const refId = (customer: string, noun: string, at: number): string =>
  `${customer}-${noun}-${String(at + 1).padStart(4, '0')}`

/** Every fourth record carries what is optional, so that both forms are on the first page. */
export const carriesOptional = (at: number): boolean => at % 4 !== 3

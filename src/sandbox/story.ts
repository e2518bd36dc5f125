import type { RecordKind } from '../resources/catalogue.ts'
import { HOUR_MICROS, printInstant } from '../values/instant.ts'
import { cycle, drawUuid } from './seeded.ts'

/** Acme's newest record of each kind has an id that is easy to remember. */
export const fixtureIds: Readonly<Record<RecordKind, string>> = {
  'fiat-accounts': '11111111-1111-4111-8111-111111111111',
  'fiat-deposit-instructions': '22222222-2222-4222-8222-222222222222',
  'deposit-addresses': '33333333-3333-4333-8333-333333333333',
  statements: '44444444-4444-4444-8444-444444444444',
  'issuer-quote-executions': '55555555-5555-4555-8555-555555555555',
}

/** The creation time of the newest record of each kind. */
const NEWEST_MICROS = 1_793_448_000_000_000n // 2026-10-31T12:00:00Z

/**
 * The creation time of the `at`-th newest record. Records are seven hours apart, but every fifth
 * has the time of its predecessor, a tie that only the id breaks. Fractions have 0, 3 or 6 digits.
 */
export function createdAt(at: number): string {
  const moment = at % 5 === 4 ? at - 1 : at
  const fraction = cycle([0n, 250_000n, 123_456n], moment)
  return printInstant(NEWEST_MICROS - BigInt(moment) * 7n * HOUR_MICROS + fraction)
}

/** One of three profiles of a customer. The README looks up `main`. */
export const profileId = (customer: string, at: number): string =>
  drawUuid(`${customer} profile ${cycle(['main', 'treasury', 'payroll'], at)}`)

export const identityId = (customer: string, at: number): string =>
  drawUuid(`${customer} identity ${at % 40}`)

export const accountId = (customer: string, at: number): string =>
  drawUuid(`${customer} end user account ${at % 60}`)

export const refId = (customer: string, noun: string, at: number): string =>
  `${customer}-${noun}-${String(at + 1).padStart(4, '0')}`

/** Every fourth record lacks the optional members, so that the first page shows both forms. */
export const carriesOptional = (at: number): boolean => at % 4 !== 3

import { DAY_MICROS, HOUR_MICROS, largest } from '@bursar/base'
import type { RecordKind } from '@bursar/contract'
import { cycle, drawNumber, drawUuid } from './seeded.ts'

/** Acme's newest record of each kind has an id that is easy to remember. */
export const fixtureIds: Readonly<Record<RecordKind, string>> = {
  'fiat-accounts': '11111111-1111-4111-8111-111111111111',
  'fiat-deposit-instructions': '22222222-2222-4222-8222-222222222222',
  'deposit-addresses': '33333333-3333-4333-8333-333333333333',
  statements: '44444444-4444-4444-8444-444444444444',
  'issuer-quote-executions': '55555555-5555-4555-8555-555555555555',
}

/** What went wrong for a customer, by the places of its records; 0 is the newest. */
export type Troubles = {
  /** Quotes that failed, and quotes that still wait. */
  readonly failed: readonly number[]
  readonly waiting: readonly number[]
  /** Statements that were paid in part, and those that were not paid. */
  readonly short: readonly number[]
  readonly unpaid: readonly number[]
}

/** What the generators of a customer's records share: its times, its ids and its size. */
export type Story = {
  readonly customer: string
  /** The id of the newest record of a kind, if it is a fixture. */
  readonly idOf: (kind: RecordKind, at: number) => string
  /** The time of the `at`-th newest record; `hours` apart unless the story is a fixed one. */
  readonly createdAt: (at: number, hours: number) => bigint
  /** When the operator's system sent what happened at a time. */
  readonly sentAt: (happenedAt: bigint) => bigint
  readonly keptSince: bigint
  /** When the newest records of every kind have been sent. */
  readonly end: bigint
  /** When the last account was decided on, and the last statement paid. */
  readonly until: bigint
  /** The last month that has ended, counted from January 2026. */
  readonly lastMonth: number
  /** About what a statement owes, in whole tokens. */
  readonly owedTokens: number
  /** Differs from customer to customer. */
  readonly salt: number
  readonly troubles: Troubles
  readonly profileId: (at: number) => string
  /** The number of the identity that has a record, and its id. */
  readonly identity: (at: number) => number
  readonly identityId: (at: number) => string
  readonly accountId: (at: number) => string
  readonly refId: (noun: string, at: number) => string
}

type Given = Pick<Story, 'customer' | 'owedTokens' | 'troubles'>

/** The creation time of the newest record of each kind. */
const NEWEST_MICROS = 1_793_448_000_000_000n // 2026-10-31T12:00:00Z

/**
 * A story that is the same whenever the sandbox starts. Records are seven hours apart, but every
 * fifth has the time of its predecessor, a tie that only the id breaks. Fractions have 0, 3 or 6
 * digits.
 */
export const fixedStory = (given: Given): Story => ({
  ...openStory(given, NEWEST_MICROS),
  createdAt: (at) => {
    const moment = at % 5 === 4 ? at - 1 : at
    const fraction = cycle([0n, 250_000n, 123_456n], moment)
    return NEWEST_MICROS - BigInt(moment) * 7n * HOUR_MICROS + fraction
  },
  // October 2026 ends half a day after the newest record, and is paid in November.
  lastMonth: 9,
  until: NEWEST_MICROS + 9n * DAY_MICROS,
})

/** A story that ends in the hour before `now`: screens show what happened since yesterday. */
export function recentStory(given: Given, now: bigint): Story {
  const newest = now - (now % HOUR_MICROS) - HOUR_MICROS
  const story = openStory(given, newest)
  // Customers differ in the minute, by their names.
  const minutes = BigInt(story.salt % 60)
  return {
    ...story,
    createdAt: (at, hours) =>
      newest - BigInt(at * hours) * HOUR_MICROS - minutes * 60_000_000n + cycle([0n, 250_000n], at),
  }
}

/** How many identities a customer has. */
const IDENTITIES = 40

function openStory({ customer, owedTokens, troubles }: Given, newest: bigint): Story {
  const end = newest + HOUR_MICROS
  const keptSince = end - 126n * DAY_MICROS
  // Each is drawn once.
  const drawn = (names: readonly string[]) => {
    const known: string[] = []
    return (at: number) => {
      const place = at % names.length
      known[place] ??= drawUuid(`${customer} ${names[place]}`)
      return known[place]
    }
  }
  const numbered = (noun: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${noun} ${at}`)
  const salt = drawNumber(`${customer} salt`, 97)
  const ids: Readonly<Record<RecordKind, string>> = {
    'fiat-accounts': 'fiat account',
    'fiat-deposit-instructions': 'deposit instructions',
    'deposit-addresses': 'deposit address',
    statements: 'statement',
    'issuer-quote-executions': 'issuer quote',
  }
  const date = new Date(Number(end / 1000n))
  return {
    customer,
    idOf: (kind, at) =>
      customer === 'acme' && at === 0
        ? fixtureIds[kind]
        : drawUuid(`${customer} ${ids[kind]} ${at}`),
    createdAt: () => newest,
    sentAt: (happenedAt) => {
      const age = end - happenedAt
      if (age <= 0n) return happenedAt
      return largest(keptSince, end - age + (age % stepAt(age)))
    },
    keptSince,
    end,
    until: end,
    lastMonth: (date.getUTCFullYear() - 2026) * 12 + date.getUTCMonth() - 1,
    owedTokens,
    troubles,
    salt,
    identity: (at) => (at % IDENTITIES) + salt,
    profileId: drawn(['profile main', 'profile treasury', 'profile payroll']),
    identityId: drawn(numbered('identity', IDENTITIES)),
    accountId: drawn(numbered('end user account', 60)),
    refId: (noun, at) => `${customer}-${noun}-${String(at + 1).padStart(4, '0')}`,
  }
}

/** Its system sends every other week, and newer things each week, each day and each hour. */
function stepAt(age: bigint): bigint {
  if (age > 28n * DAY_MICROS) return 14n * DAY_MICROS
  if (age > 7n * DAY_MICROS) return 7n * DAY_MICROS
  return age > DAY_MICROS ? DAY_MICROS : HOUR_MICROS
}

/** Every fourth record lacks the optional members, so that the first page shows both forms. */
export const carriesOptional = (at: number): boolean => at % 4 !== 3

/** Month 0 is January 2026. Earlier months are negative. */
export const firstOfMonth = (month: number): bigint => BigInt(Date.UTC(2026, month, 1)) * 1000n

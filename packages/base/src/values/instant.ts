/** Microseconds since 1970, rounded down. `finer` tells that digits below them were cut off. */
export type Instant = { readonly micros: bigint; readonly finer: boolean }

const dateTime =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

/** Microseconds of an hour, and of a day of 24 of them. */
export const HOUR_MICROS = 3_600_000_000n
export const DAY_MICROS = 24n * HOUR_MICROS

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z, the range of RFC 3339. */
const EARLIEST_MICROS = -62_135_596_800_000_000n
const LATEST_MICROS = 253_402_300_799_999_999n

/**
 * Parses an RFC 3339 date-time: `T` and `Z` in either case, any offset, up to 9 fraction digits,
 * every part in range. Returns undefined for other text, and for a leap second (`:60`), which has
 * no microsecond count.
 */
export function parseInstant(text: string): Instant | undefined {
  const match = dateTime.exec(text)
  if (match === null) return undefined
  const part = (group: number) => Number(match[group] ?? 0)
  const [year, month, day] = [part(1), part(2), part(3)]
  const [hour, minute, second] = [part(4), part(5), part(6)]
  const fraction = (match[7] ?? '').padEnd(9, '0')
  const [offsetHours, offsetMinutes] = [part(9), part(10)]
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  if (offsetHours > 23 || offsetMinutes > 59) return undefined
  // Date.UTC reads years below 100 as 1900 to 1999. The calendar repeats every 400 years.
  const [later, laterMs] = year < 100 ? [400, 146_097 * 86_400_000] : [0, 0]
  const local = Date.UTC(year + later, month - 1, day, hour, minute, second) - laterMs
  const eastMs = (offsetHours * 60 + offsetMinutes) * (match[8] === '-' ? -60_000 : 60_000)
  // A number holds the milliseconds of these years exactly, but not the microseconds.
  const micros = BigInt(local - eastMs) * 1000n + BigInt(fraction.slice(0, 6))
  if (!isPrintable(micros)) return undefined
  return { micros, finer: fraction.slice(6) !== '000' }
}

/** Whether a date-time is right but for its second 60, which a day may have once in some years. */
export const isLeapSecond = (text: string): boolean =>
  /:60(?:\.\d+)?(?:[Zz]|[+-])/.test(text) && parseInstant(text.replace(':60', ':59')) !== undefined

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Whether `printInstant` prints it in the form of RFC 3339. */
export const isPrintable = (micros: bigint): boolean =>
  micros >= EARLIEST_MICROS && micros <= LATEST_MICROS

/** Prints UTC with `Z` and the fewest of 0, 3 or 6 fraction digits that lose nothing. */
export function printInstant(micros: bigint): string {
  const finer = modulo(micros, 1000n)
  const text = new Date(Number((micros - finer) / 1000n)).toISOString()
  if (finer !== 0n) return `${text.slice(0, -1)}${String(finer).padStart(3, '0')}Z`
  return text.endsWith('.000Z') ? `${text.slice(0, -5)}Z` : text
}

/** The non-negative remainder, so that instants before 1970 keep their fraction. */
const modulo = (value: bigint, by: bigint): bigint => ((value % by) + by) % by

/** A text of a time: the order of such texts, byte by byte, is that of their times. */
export const instantKey = (micros: bigint): string =>
  String(micros - EARLIEST_MICROS).padStart(String(LATEST_MICROS - EARLIEST_MICROS).length, '0')

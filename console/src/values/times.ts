/** Instants, days and ages as people read them. Each text is in UTC or in the browser's zone. */

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const fullMonths =
  'January February March April May June July August September October November December'.split(' ')
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

type Parts = {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly weekday: number
  readonly clock: string
  readonly seconds: string
}

const two = (part: number): string => String(part).padStart(2, '0')

function partsOf(at: Date, isUtc: boolean): Parts {
  // A date that is moved by its offset has the local parts where UTC parts are read.
  const moved = isUtc ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return {
    year: moved.getUTCFullYear(),
    month: moved.getUTCMonth(),
    day: moved.getUTCDate(),
    weekday: moved.getUTCDay(),
    clock: `${two(moved.getUTCHours())}:${two(moved.getUTCMinutes())}`,
    seconds: two(moved.getUTCSeconds()),
  }
}

export const isInstant = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text))

type Clock = { readonly isUtc: boolean; readonly now: Date }

/** For lists: `02:11` today, `21 Nov, 14:05` this year, else `21 Nov 2025`. */
export function shortTime(at: string, { isUtc, now }: Clock): string {
  const [own, today] = [partsOf(new Date(at), isUtc), partsOf(now, isUtc)]
  const day = `${own.day} ${months[own.month]}`
  if (own.year !== today.year) return `${day} ${own.year}`
  return own.month === today.month && own.day === today.day ? own.clock : `${day}, ${own.clock}`
}

/** For records: `2 May 2026, 09:14`, or `Today, 09:14`. */
export function longTime(at: string, { isUtc, now }: Clock): string {
  const [own, today] = [partsOf(new Date(at), isUtc), partsOf(now, isUtc)]
  const isToday = own.year === today.year && own.month === today.month && own.day === today.day
  return `${isToday ? 'Today' : `${own.day} ${months[own.month]} ${own.year}`}, ${own.clock}`
}

/** `2 May 2026, 09:14:07 UTC`, to the second and with the zone. */
export function exactTime(at: string, isUtc: boolean): string {
  const { day, month, year, clock, seconds } = partsOf(new Date(at), isUtc)
  return `${day} ${months[month]} ${year}, ${clock}:${seconds} ${isUtc ? 'UTC' : 'local time'}`
}

/** `Monday, 23 November 2026`. */
export function dayName(at: Date, isUtc: boolean): string {
  const { weekday, day, month, year } = partsOf(at, isUtc)
  return `${weekdays[weekday]}, ${day} ${fullMonths[month]} ${year}`
}

/** `23 November 2026`. */
export function dayOf(at: string, isUtc: boolean): string {
  const { day, month, year } = partsOf(new Date(at), isUtc)
  return `${day} ${fullMonths[month]} ${year}`
}

export const clockOf = (at: Date, isUtc: boolean): string => partsOf(at, isUtc).clock

/** `Oct 2026` for a whole month, else `1–15 Oct 2026`. A period ends before its last instant. */
export function periodText(start: string, end: string): string {
  const [first, last] = [new Date(start), new Date(Date.parse(end) - 1)]
  const [from, to] = [partsOf(first, true), partsOf(last, true)]
  const isMonth =
    from.day === 1 &&
    from.month === to.month &&
    from.year === to.year &&
    partsOf(new Date(end), true).day === 1
  const month = `${months[to.month]} ${to.year}`
  if (isMonth) return month
  if (from.year !== to.year)
    return `${from.day} ${months[from.month]} ${from.year} – ${to.day} ${month}`
  if (from.month !== to.month) return `${from.day} ${months[from.month]} – ${to.day} ${month}`
  return from.day === to.day ? `${to.day} ${month}` : `${from.day}–${to.day} ${month}`
}

/** `October 2026`, by which a plot names a bar. */
export function monthName(at: string): string {
  const { month, year } = partsOf(new Date(at), true)
  return `${fullMonths[month]} ${year}`
}

export const monthLetter = (at: string): string =>
  fullMonths[partsOf(new Date(at), true).month]?.charAt(0) ?? ''

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/** A duration in whole units of the largest that fits: `22 days`. */
export function durationText(ms: number): string {
  const [name, size] = units.find(([, length]) => ms >= length) ?? units[3]
  const count = Math.floor(ms / size)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

/** `22 days ago`; a time to come is `in 22 days`. */
export function ageText(at: string, now: Date): string {
  const ms = now.getTime() - Date.parse(at)
  return ms < 0 ? `in ${durationText(-ms)}` : `${durationText(ms)} ago`
}

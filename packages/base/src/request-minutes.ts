import type { Clock } from './clock.ts'

/** The requests of one minute, which begins at a time in microseconds. */
export type RequestMinute = {
  readonly at: bigint
  readonly count: number
  /** Those of them that were answered 500 or above. */
  readonly failed: number
}

export type RequestMinutes = {
  /** Counts a request that was answered now. */
  note(isFailed: boolean): void
  /** The last hour, oldest first; a minute without requests since the first one has zeros. */
  read(): readonly RequestMinute[]
}

const MINUTES = 60
const MINUTE_MICROS = 60_000_000n

/** Counts requests by the minutes of the clock, in sixty places that are used again. */
export function openRequestMinutes(clock: Clock): RequestMinutes {
  const places = Array.from({ length: MINUTES }, () => ({ minute: -1n, count: 0, failed: 0 }))
  let first: bigint | undefined
  const minuteOf = () => clock() / MINUTE_MICROS
  const placeOf = (minute: bigint) => places[Number(minute % BigInt(MINUTES))]
  return {
    note: (isFailed) => {
      const minute = minuteOf()
      first ??= minute
      const place = placeOf(minute)
      if (place === undefined) return
      if (place.minute !== minute) Object.assign(place, { minute, count: 0, failed: 0 })
      place.count += 1
      if (isFailed) place.failed += 1
    },
    read: () => {
      const last = minuteOf()
      const hour = Array.from({ length: MINUTES }, (_, at) => last - BigInt(MINUTES - 1 - at))
      return hour
        .filter((minute) => first !== undefined && minute >= first)
        .map((minute) => {
          const place = placeOf(minute)
          const { count, failed } = place?.minute === minute ? place : { count: 0, failed: 0 }
          return { at: minute * MINUTE_MICROS, count, failed }
        })
    },
  }
}

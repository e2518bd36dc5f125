import { systemTime, type Time } from './time.ts'

/** The wall clock alone, for what neither waits nor measures. */
export type Clock = Time['now']

/** A clock that tests move while a sandbox runs. It goes on from where it was moved to. */
export type MovableClock = {
  readonly now: Clock
  /** How far it is ahead of the machine's clock, in microseconds. */
  offset(): bigint
  setOffset(micros: bigint): void
}

export function openMovableClock(real: Clock = systemTime.now): MovableClock {
  let ahead = 0n
  return {
    now: () => real() + ahead,
    offset: () => ahead,
    setOffset: (micros) => {
      ahead = micros
    },
  }
}

/** Microseconds since 1970-01-01T00:00:00Z. Injected, so that tests can set it. */
export type Clock = () => bigint

export const systemClock: Clock = () => BigInt(Date.now()) * 1000n

/** A clock that tests move while a sandbox runs. It goes on from where it was moved to. */
export type MovableClock = {
  readonly now: Clock
  /** How far it is ahead of the machine's clock, in microseconds. */
  offset(): bigint
  setOffset(micros: bigint): void
}

export function openMovableClock(real: Clock = systemClock): MovableClock {
  let ahead = 0n
  return {
    now: () => real() + ahead,
    offset: () => ahead,
    setOffset: (micros) => {
      ahead = micros
    },
  }
}

import type { Clock } from '@bursar/base'

/** A manual clock. It starts at 2026-03-01T12:00:00Z. */
export type SetClock = Clock & { advance(seconds: number): void }

export function setClock(start = Date.UTC(2026, 2, 1, 12)): SetClock {
  let now = BigInt(start) * 1000n
  return Object.assign(() => now, {
    advance: (seconds: number) => {
      now += BigInt(Math.round(seconds * 1e6))
    },
  })
}

import { openTally } from '../platform/tally.ts'

/**
 * How keys, such as clients and customers, share the batches of a queue. None of them takes more
 * than its share, however many requests it sends.
 */
export type TurnOptions<Request> = {
  /** The keys of a request: one of each kind, and the kinds always in the same order. */
  readonly keysOf: (request: Request) => readonly string[]
  /** A batch has no two requests of one name: the later one must find the earlier one done. */
  readonly nameOf: (request: Request) => string
  /** The weight of a key in a batch, while another key of its kind has sent requests lately. */
  readonly weightPerKeyMax: number
  /** How long "lately" is. */
  readonly rememberedMs: number
}

export type Turns<Request> = {
  /**
   * Whether one more request may wait beside so many free places. A key may hold no more places
   * than are free, so that a few greedy keys always leave some to the others.
   */
  fits(request: Request, free: number): boolean
  /** Counts a request that begins to wait, at a time of `performance.now()`. */
  join(request: Request, now: number): void
  /** Counts a request no more. */
  leave(request: Request): void
  /** The requests of the next batch, in the order of `waiting` for each key. */
  choose<Pending extends Waits<Request>>(waiting: readonly Pending[], now: number): Set<Pending>
}

type Waits<Request> = { readonly request: Request }

type Weights<Request> = {
  readonly weightOf: (request: Request) => number
  readonly weightMax: number
}

export function openTurns<Request>(
  { keysOf, nameOf, weightPerKeyMax, rememberedMs }: TurnOptions<Request>,
  { weightOf, weightMax }: Weights<Request>,
): Turns<Request> {
  const held = openTally()
  // Of each kind: the key of the last request, and when another key had its last request.
  const latest: { key: string; at: number; otherAt: number }[] = []
  const note = (key: string, kind: number, at: number) => {
    const last = latest[kind]
    const isOther = last !== undefined && last.key !== key
    latest[kind] = { key, at, otherAt: isOther ? last.at : (last?.otherAt ?? -Infinity) }
  }
  const maxima = (now: number): readonly number[] =>
    latest.map(({ otherAt }) =>
      now - otherAt < rememberedMs ? weightPerKeyMax : Number.POSITIVE_INFINITY,
    )
  return {
    fits: (request, free) => keysOf(request).every((key) => held.of(key) < free),
    join: (request, now) => {
      for (const [kind, key] of keysOf(request).entries()) {
        held.add(key, 1)
        note(key, kind, now)
      }
    },
    leave: (request) => {
      for (const key of keysOf(request)) held.add(key, -1)
    },
    choose: <Pending extends Waits<Request>>(waiting: readonly Pending[], now: number) => {
      const max = maxima(now)
      const taken = openTally()
      const names = new Set<string>()
      const batch = new Set<Pending>()
      let batchWeight = 0
      // Doubling the share of a key takes few rounds, and nearly as fair as single steps.
      let left = waiting
      for (let share = 1; left.length > 0; share *= 2) {
        const later: Pending[] = []
        for (const one of left) {
          const { request } = one
          const [keys, name] = [keysOf(request), nameOf(request)]
          const reaches = (bound: number, kind: number) => taken.of(keys[kind] ?? '') >= bound
          if (names.has(name) || max.some(reaches)) continue
          if (keys.some((_key, kind) => reaches(share, kind))) {
            later.push(one)
            continue
          }
          const weight = weightOf(request)
          if (batch.size > 0 && batchWeight + weight > weightMax) return batch
          batchWeight += weight
          for (const key of keys) taken.add(key, weight)
          names.add(name)
          batch.add(one)
        }
        left = later
      }
      return batch
    },
  }
}

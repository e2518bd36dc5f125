import { getOrInsert } from '@bursar/base'
/**
 * How keys, such as clients and customers, share the batches of a queue. None of them takes more
 * than its share, however many requests it sends.
 */
export type TurnOptions<Request> = {
  /** The keys of a request: one of each kind, and the kinds always in the same order. */
  readonly keysOf: (request: Request) => readonly string[]
  /** A batch has no two requests of one name: the later one must find the earlier one done. */
  readonly nameOf: (request: Request) => string
  /**
   * What a request shares with others of its batch alone. While a batch runs, no other one begins
   * with a request that has the same name, or shares one of these with it.
   */
  readonly apartOf?: (request: Request) => readonly string[]
  /**
   * The weight of a key in a batch and in those that run, while another key of its kind has sent
   * requests lately.
   */
  readonly weightPerKeyMax: number
  /** How long "lately" is. */
  readonly rememberedMs: number
}

/** The place of a request in the queue. */
export type Turn = {
  readonly name: string
  readonly keys: readonly Key[]
  readonly weight: number
  /** What no other running batch has, its name included. */
  readonly apart: readonly string[]
}

type Key = {
  readonly name: string
  /** How many of its requests wait. */
  waiting: number
  /** The weight of those that run. */
  running: number
  /** Its weight in a batch, which has a number. */
  taken: number
  batch: number
}

export type Turns<Request> = {
  /**
   * Whether one more request may wait beside so many free places. A key may hold no more places
   * than are free, so that a few greedy keys always leave some to the others.
   */
  fits(request: Request, free: number): boolean
  /** Counts a request that begins to wait, at a time of `Time.elapsedMs`. */
  join(request: Request, weight: number, now: number): Turn
  /** Whether nothing of the keys of a request runs. */
  isAlone(turn: Turn): boolean
  /** Counts a request no more. */
  leave(turn: Turn): void
  /**
   * Chooses a batch, which runs from now on. It keeps the order of the requests of each key, and of
   * those that may not run beside each other.
   */
  choose<Waiting extends Waits>(waiting: readonly Waiting[], now: number): ReadonlySet<Waiting>
  /** Notes that the batch of a request has ended. */
  end(turn: Turn): void
}

type Waits = { readonly turn: Turn | undefined; readonly weight: number }

/** The share of a key grows so in each round: few rounds are nearly as fair as single steps. */
const SHARE_GROWS = 4

export function openTurns<Request>(
  { keysOf, nameOf, apartOf = () => [], weightPerKeyMax, rememberedMs }: TurnOptions<Request>,
  weightMax: number,
): Turns<Request> {
  // Keys of different kinds may have the same name.
  const kinds: Map<string, Key>[] = []
  // Of each kind: the key of the last request, and when another key had its last request.
  const latest: { key: string; at: number; otherAt: number }[] = []
  /** What the running batches have apart. */
  const running = new Set<string>()
  let batch = 0
  const note = (key: string, kind: number, at: number) => {
    const last = latest[kind]
    const isOther = last !== undefined && last.key !== key
    const otherAt = isOther ? last.at : (last?.otherAt ?? Number.NEGATIVE_INFINITY)
    latest[kind] = { key, at, otherAt }
  }
  const keyOf = (name: string, kind: number): Key => {
    const keys = kinds[kind] ?? new Map<string, Key>()
    kinds[kind] = keys
    return getOrInsert(keys, name, () => ({
      name,
      waiting: 0,
      running: 0,
      taken: 0,
      batch: 0,
    }))
  }
  const mayRun = ({ turn }: Waits) => turn?.apart.some((one) => running.has(one)) !== true
  const begin = <Waiting extends Waits>(chosen: ReadonlySet<Waiting>) => {
    for (const { turn } of chosen) {
      for (const one of turn?.apart ?? []) running.add(one)
      for (const key of turn?.keys ?? []) key.running += turn?.weight ?? 0
    }
    return chosen
  }
  const forgetUnused = (key: Key, kind: number) => {
    if (key.waiting === 0 && key.running === 0) kinds[kind]?.delete(key.name)
  }
  const takenOf = (key: Key): number => (key.batch === batch ? key.taken : 0)
  return {
    fits: (request, free) =>
      keysOf(request).every((name, kind) => (kinds[kind]?.get(name)?.waiting ?? 0) < free),
    isAlone: ({ keys }) => keys.every((key) => key.running === 0),
    join: (request, weight, now) => {
      const keys = keysOf(request).map(keyOf)
      for (const [kind, key] of keys.entries()) {
        key.waiting += 1
        note(key.name, kind, now)
      }
      const name = nameOf(request)
      return { name, keys, weight, apart: [name, ...apartOf(request)] }
    },
    leave: ({ keys }) => {
      for (const [kind, key] of keys.entries()) {
        key.waiting -= 1
        forgetUnused(key, kind)
      }
    },
    choose: <Waiting extends Waits>(waiting: readonly Waiting[], now: number) => {
      batch += 1
      const bounds = latest.map(({ otherAt }) =>
        now - otherAt < rememberedMs ? weightPerKeyMax : Number.POSITIVE_INFINITY,
      )
      const names = new Set<string>()
      const chosen = new Set<Waiting>()
      let weight = 0
      let left = running.size === 0 ? waiting : waiting.filter(mayRun)
      for (let share = 1; left.length > 0; share *= SHARE_GROWS) {
        const later: Waiting[] = []
        for (const one of left) {
          const { name = '', keys = [] } = one.turn ?? {}
          const isOver = (key: Key, kind: number) =>
            key.running + takenOf(key) >= (bounds[kind] ?? 0)
          if (names.has(name) || keys.some(isOver)) continue
          if (keys.some((key) => takenOf(key) >= share)) {
            later.push(one)
            continue
          }
          if (chosen.size > 0 && weight + one.weight > weightMax) return begin(chosen)
          weight += one.weight
          for (const key of keys) {
            key.taken = takenOf(key) + one.weight
            key.batch = batch
          }
          names.add(name)
          chosen.add(one)
        }
        left = later
      }
      return begin(chosen)
    },
    end: ({ apart, keys, weight }) => {
      for (const one of apart) running.delete(one)
      for (const [kind, key] of keys.entries()) {
        key.running -= weight
        forgetUnused(key, kind)
      }
    },
  }
}

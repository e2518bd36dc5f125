import { openTally } from './tally.ts'
import { systemTime } from './time.ts'
import { getOrInsert } from './values/get-or-insert.ts'

/**
 * Shares something scarce, such as memory, among keys, such as clients. What does not fit waits.
 * Each key has a queue in the order of arrival, and keys take turns.
 */
export type FairQueue = {
  /** Whether the amount fits if it replaces another amount of the same key. */
  fits(key: string, amount: number, instead?: number): boolean
  /** Counts the amount if it fits and nothing of the key waits. */
  tryTake(key: string, amount: number): boolean
  /** Waits until the amount fits, which is then counted. Throws if too many wait. */
  wait(key: string, amount: number): Turn
  /** Counts more of a key, or less. What waits may then fit. */
  add(key: string, more: number): void
}

export type Turn = {
  /** Rejects at the deadline, or with the reason of `leave`. */
  readonly admitted: Promise<void>
  /** Ends the wait, unless it has ended. */
  leave(reason: unknown): void
}

export type FairBounds = {
  /** A key without a share gets one of any size. So does the first key of all. */
  readonly perKeyMax: number
  readonly totalMax: number
  readonly waitingPerKeyMax: number
  readonly waitingMax: number
  readonly waitMs: number
  /** The error for a share that waits too long, or behind too many of all keys or of its own. */
  readonly refusal: (cause: 'late' | 'full' | 'full-of-key') => Error
}

type Waiting = { readonly key: string; readonly amount: number; readonly admit: () => void }

export function openFairQueue(bounds: FairBounds): FairQueue {
  const { refusal } = bounds
  const held = openTally()
  const queued = openTally()
  // The key that comes first has its turn next.
  const queues = new Map<string, Set<Waiting>>()
  const fits = (key: string, amount: number, instead = 0): boolean => {
    const [own, all] = [held.of(key) - instead, held.total() - instead]
    const { perKeyMax, totalMax } = bounds
    return (own === 0 || own + amount <= perKeyMax) && (all === 0 || all + amount <= totalMax)
  }
  const join = (one: Waiting): void => {
    getOrInsert(queues, one.key, () => new Set()).add(one)
    queued.add(one.key, 1)
  }
  /** Returns whether it waited still. */
  const leave = (one: Waiting): boolean => {
    const queue = queues.get(one.key)
    if (queue?.delete(one) !== true) return false
    queued.add(one.key, -1)
    if (queue.size === 0) queues.delete(one.key)
    return true
  }
  /** Admits the first of each key that fits, and puts the key behind the others. */
  const admitRound = (): boolean => {
    let isAnyAdmitted = false
    for (const [key, queue] of [...queues]) {
      const [first] = queue
      if (first === undefined || !fits(key, first.amount)) continue
      leave(first)
      if (queues.delete(key)) queues.set(key, queue)
      held.add(key, first.amount)
      first.admit()
      isAnyAdmitted = true
    }
    return isAnyAdmitted
  }
  const admit = (): void => {
    let isAnyAdmitted = true
    while (isAnyAdmitted) isAnyAdmitted = admitRound()
  }
  return {
    fits,
    tryTake: (key, amount) => {
      const isTaken = !queues.has(key) && fits(key, amount)
      if (isTaken) held.add(key, amount)
      return isTaken
    },
    wait: (key, amount) => {
      if (queued.of(key) >= bounds.waitingPerKeyMax) throw refusal('full-of-key')
      if (queued.total() >= bounds.waitingMax) throw refusal('full')
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const end = (reason: unknown) => {
        if (!leave(one)) return
        cancel()
        reject(reason)
        // A smaller share may have waited behind this one.
        admit()
      }
      const cancel = systemTime.after(bounds.waitMs, () => end(refusal('late')))
      const settle = () => {
        cancel()
        resolve()
      }
      const one = { key, amount, admit: settle }
      join(one)
      return { admitted: promise, leave: end }
    },
    add: (key, more) => {
      held.add(key, more)
      if (more < 0) admit()
    },
  }
}

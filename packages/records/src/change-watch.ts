import { type Background, getOrInsert, limitsOf, systemTime, turn } from '@bursar/base'
import type { Tenant } from '@bursar/contract'

const limits = limitsOf({
  /** Customers of one query for all readers that wait: some 2 ms on the embedded store. */
  countedTogether: 500,
})

/** Tells readers when a customer has new versions. However many wait, they share one timer. */
export type ChangeWatch = {
  /**
   * From here on no change of the tenant is missed, or without one, of any customer. The wait is
   * over at a time of `Time.elapsedMs`, at most one look earlier, or when the reader has left. The
   * caller ends it.
   */
  begin(tenant: Tenant | undefined, endsAt: number, left: AbortSignal): ChangeWait
  /** How many readers wait now. */
  waiting(): number
  /** Ends every wait, and each later one at once. */
  stop(): void
}

export type ChangeWait = {
  /** Aborted when the wait is over. */
  readonly over: AbortSignal
  /**
   * Resolves with true once the tenant may have more than so many versions, else when over. Where
   * it waits for any customer, each change may be one that the reader has seen.
   */
  until(changes: bigint): Promise<boolean>
  end(): void
}

/** How a store tells of changes. */
export type ChangeSource = {
  /** How many versions each of these customers has; a customer without records may be absent. */
  readonly count: (tenants: readonly Tenant[]) => Promise<ReadonlyMap<string, bigint>>
  /**
   * Calls back when customers have changed: with their names as `nameOf` has them, or with
   * undefined when it could be any. Returns the function that stops it.
   */
  readonly listen?: (changed: (names: readonly string[] | undefined) => void) => () => void
  readonly nameOf?: (tenant: Tenant) => string
  /** How often to look. At each look it counts, unless nothing can have changed. */
  readonly everyMs: number
  readonly looks?: { readonly mayHaveChanged: () => boolean }
}

/** The readers that wait for one customer. */
type Waiting = { readonly tenant: Tenant; readonly waits: Set<Wait> }

type Wait = {
  readonly endsAt: number
  readonly over: AbortController
  /** Whether the customer has changed since the last call of `until`. */
  isChanged: boolean
  pending: Pending | undefined
}

type Pending = {
  readonly changes: bigint
  readonly resolve: (isChanged: boolean) => void
}

export function openChangeWatch(source: ChangeSource, background: Background): ChangeWatch {
  const { count, listen, nameOf = String, looks, everyMs } = source
  const customers = new Map<string, Waiting>()
  const ofAny = new Set<Wait>()
  let stopListening: (() => void) | undefined
  let looking: { stop(): void } | undefined
  let isCounting = false
  let isStopped = false
  function* allWaits() {
    yield* ofAny
    for (const { waits } of customers.values()) yield* waits
  }
  const settle = (wait: Wait, isChanged: boolean) => {
    wait.pending?.resolve(isChanged)
    wait.pending = undefined
  }
  const wake = (wait: Wait) => {
    if (wait.pending === undefined) wait.isChanged = true
    else settle(wait, true)
  }
  const finish = (wait: Wait) => {
    wait.over.abort(OVER)
    settle(wait, false)
  }
  /** One query for all customers that are waited for, in parts that hold the event loop briefly. */
  const countAll = async () => {
    if (isCounting) return
    isCounting = true
    try {
      const all = [...customers.values()]
      for (let at = 0; at < all.length; at += limits.countedTogether) {
        const part = all.slice(at, at + limits.countedTogether)
        if (at > 0) await turn()
        const counts = await count(part.map(({ tenant }) => tenant))
        for (const { tenant, waits } of part) {
          const changes = counts.get(tenant) ?? 0n
          for (const wait of waits) {
            if (wait.pending === undefined ? changes > 0n : changes > wait.pending.changes)
              wake(wait)
          }
        }
      }
    } catch {
      // The next look counts again. Requests that wait meanwhile are answered at their end.
    } finally {
      isCounting = false
    }
  }
  const look = async () => {
    // So that no answer comes after its time.
    const endsBy = systemTime.elapsedMs() + everyMs
    for (const wait of allWaits()) if (wait.endsAt < endsBy) finish(wait)
    if (looks?.mayHaveChanged() !== true) return
    ofAny.forEach(wake)
    await countAll()
  }
  const changed = (names: readonly string[] | undefined) => {
    ofAny.forEach(wake)
    if (names === undefined) return void countAll()
    for (const name of names) customers.get(name)?.waits.forEach(wake)
  }
  const startLooking = () => {
    stopListening ??= listen?.(changed)
    looking ??= background.start('wake-readers', look, { everyMs })
  }
  return {
    begin: (tenant, endsAt, left) => {
      if (!isStopped) startLooking()
      const name = tenant === undefined ? '' : nameOf(tenant)
      const waits =
        tenant === undefined
          ? ofAny
          : getOrInsert(customers, name, () => ({ tenant, waits: new Set() })).waits
      const over = new AbortController()
      const wait: Wait = { endsAt, over, isChanged: false, pending: undefined }
      waits.add(wait)
      if (isStopped || left.aborted) finish(wait)
      else left.addEventListener('abort', () => finish(wait), { once: true })
      return {
        over: over.signal,
        until: (changes) => {
          if (over.signal.aborted) return Promise.resolve(false)
          const { isChanged } = wait
          wait.isChanged = false
          if (isChanged) return Promise.resolve(true)
          const { promise, resolve } = Promise.withResolvers<boolean>()
          wait.pending = { changes, resolve }
          return promise
        },
        end: () => {
          settle(wait, false)
          waits.delete(wait)
          if (waits.size === 0) customers.delete(name)
          if (customers.size > 0 || ofAny.size > 0) return
          looking?.stop()
          looking = undefined
        },
      }
    },
    waiting: () =>
      allWaits()
        .filter(({ pending }) => pending !== undefined)
        .toArray().length,
    stop: () => {
      isStopped = true
      looking?.stop()
      stopListening?.()
      for (const wait of allWaits()) finish(wait)
    },
  }
}

/** Without a reason, each of many signals would make an error with a stack. */
const OVER = 'the wait is over'

import { currentSpan, getOrInsert, type Span } from '@bursar/base'
import { inBatchSpan } from '@bursar/records'

/**
 * Reads for requests that wait. A change wakes many of them at once, and they would compete for
 * few sessions. Here equal queries share one read, and reads take turns in the order of arrival.
 * Each reader is a request that `EventWaits` has counted, which bounds the queue.
 */
export type SharedReads<Query, Found> = {
  /**
   * Resolves with undefined if `over` is aborted before the read has begun. A read that has begun
   * answers each of its readers, also with its failure.
   */
  read(query: Query, over: AbortSignal): Promise<Found | undefined>
}

/** What a query may consist of. A function would hide a difference between two queries. */
export type PlainValue =
  | string
  | number
  | bigint
  | boolean
  | undefined
  | readonly string[]
  | ReadonlySet<string>
  | { readonly [member: string]: PlainValue }

export type SharedReadsOptions<Query, Found> = {
  /** It sees the query alone, and nothing of the request that came first. */
  readonly read: (query: Query) => Promise<Found>
  /** Once so many reads are running, the others wait for one of them to end. */
  readonly runningMax: number
}

type Reader<Found> = {
  readonly resolve: (found: Promise<Found> | undefined) => void
  /** The step that waits for the read, if its trace is recorded. */
  readonly span: Span | undefined
}

type Queued<Query, Found> = { readonly query: Query; readonly readers: Set<Reader<Found>> }

export function openSharedReads<Query extends PlainValue, Found>({
  read,
  runningMax,
}: SharedReadsOptions<Query, Found>): SharedReads<Query, Found> {
  // In the order of arrival. A read leaves the queue as it begins, so nobody joins it later: it
  // may have seen the store before the change that has woken the later reader.
  const queued = new Map<string, Queued<Query, Found>>()
  let running = 0
  let isScheduled = false
  const begin = (key: string, { query, readers }: Queued<Query, Found>) => {
    queued.delete(key)
    running += 1
    const found = inBatchSpan('events', [...readers], () => read(query))
    for (const { resolve } of readers) resolve(found)
    const end = () => {
      running -= 1
      schedule()
    }
    found.then(end, end)
  }
  const beginSome = () => {
    for (const [key, one] of queued) {
      if (running >= runningMax) return
      begin(key, one)
    }
  }
  /** In the next turn of the event loop: all readers that this turn has woken join before. */
  const schedule = () => {
    if (isScheduled || queued.size === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      beginSome()
    })
  }
  return {
    read: (query, over) => {
      if (over.aborted) return Promise.resolve(undefined)
      const key = keyOf(query)
      const one = getOrInsert(queued, key, () => ({ query, readers: new Set() }))
      const { promise, resolve } = Promise.withResolvers<Found | undefined>()
      const reader = { resolve, span: currentSpan() }
      one.readers.add(reader)
      const leave = () => {
        if (queued.get(key) !== one) return
        one.readers.delete(reader)
        if (one.readers.size === 0) queued.delete(key)
        resolve(undefined)
      }
      over.addEventListener('abort', leave, { once: true })
      schedule()
      return promise.finally(() => over.removeEventListener('abort', leave))
    },
  }
}

/**
 * The whole query as a text. Isolation depends on it: queries that differ in any member, such as
 * the tenant, have different texts, and a member that is added later is a part of the text too.
 */
const keyOf = (query: PlainValue): string =>
  JSON.stringify(query, (_name, value: PlainValue) => {
    if (typeof value === 'bigint') return String(value)
    return value instanceof Set ? [...value].toSorted() : value
  })

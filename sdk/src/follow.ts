import { pause } from './abort.ts'
import { BursarError } from './errors.ts'
import type { Page } from './list.ts'
import { mayRepeatRead } from './retry.ts'
import { systemTime } from './system-time.ts'

export type FollowOptions = {
  /** Ends the loop, at once and without an error. */
  readonly signal?: AbortSignal | undefined
  /** Where to go on; the first event by default. */
  readonly cursor?: string | undefined
  /** Seconds from 0 to 30 that the server may wait for an event; 25 by default. */
  readonly wait?: number | undefined
  /** How often a request is sent until the loop throws; without end by default. */
  readonly maxAttempts?: number | undefined
}

/** An event, and the cursor to store once it is handled. */
export type Followed<T> = {
  readonly event: T
  /**
   * Goes on behind the event if it is the last of its page, and else at the page's first event: the
   * server has a cursor for each page only.
   */
  readonly cursor: string
}

/** The events of one answer, and the cursor that goes on behind all of them. */
export type FollowedPage<T> = {
  /** Empty where the filter has skipped events. */
  readonly events: readonly T[]
  readonly cursor: string
}

/** Events as they come. Each loop begins at the cursor of the options. */
export type Feed<T> = AsyncIterable<Followed<T>> & { pages(): AsyncIterable<FollowedPage<T>> }

/** The longest that the server waits. */
const WAIT_SECONDS_MAX = 30
/** Some gateways fail a request that is not answered within 29 seconds. */
export const WAIT_SECONDS_DEFAULT = 25
/** Begins at the first event. */
const FIRST = ''
/** After how many first delays a request is sent again whose attempts have all failed. */
const DELAYS_BETWEEN = 30
/** A server that names a later time is tried again after an hour. */
const RETRY_AFTER_MS_MAX = 60 * 60 * 1000

/**
 * The feed by its pages, each of which `readPage` requests. The delay of retries is also the least
 * time of an answer without news, for servers and proxies that do not wait.
 */
export function followed<T>(
  readPage: (cursor: string) => Promise<Page<T>>,
  { signal, cursor: first = FIRST, wait, maxAttempts }: FollowOptions & { readonly wait: number },
  retryDelayMs: number,
): Feed<T> {
  if (!(wait >= 0 && wait <= WAIT_SECONDS_MAX)) {
    throw new TypeError(`wait must be a number from 0 to ${WAIT_SECONDS_MAX}`)
  }
  /** A server that is down for minutes does not end a program that runs for weeks. */
  const readOn = async (cursor: string): Promise<Page<T>> => {
    for (;;) {
      try {
        return await readPage(cursor)
      } catch (error) {
        const mayGoOn = error instanceof BursarError && mayRepeatRead(error)
        if (!mayGoOn || maxAttempts !== undefined) throw error
        const delayMs = DELAYS_BETWEEN * retryDelayMs
        const wantedMs = (error.retryAfterSeconds ?? 0) * 1000
        await pause(Math.min(Math.max(delayMs, wantedMs), RETRY_AFTER_MS_MAX), signal)
      }
    }
  }

  async function* read() {
    for (let cursor = first; ; ) {
      const startedAt = systemTime.elapsedMs()
      const { items: events, nextPageCursor, resumeCursor, requestId } = await readOn(cursor)
      if (resumeCursor === undefined) {
        throw new BursarError({ detail: 'the server answered no resume_cursor', requestId })
      }
      const hasMoved = resumeCursor !== cursor
      // Such a server would show the same events for ever.
      if (!hasMoved && (events.length > 0 || nextPageCursor !== undefined)) {
        throw new BursarError({ detail: 'the server answered the same cursor again', requestId })
      }
      if (hasMoved) yield { events, cursor: resumeCursor, from: cursor }
      cursor = resumeCursor
      if (events.length > 0 || nextPageCursor !== undefined) continue
      const leftMs = retryDelayMs - (systemTime.elapsedMs() - startedAt)
      if (leftMs > 0) await pause(leftMs, signal)
    }
  }

  /** The end of the signal is an end of the loop, and no failure. */
  async function* untilAborted() {
    try {
      signal?.throwIfAborted()
      for await (const page of read()) {
        yield page
        signal?.throwIfAborted()
      }
    } catch (error) {
      if (signal?.aborted !== true || error !== signal.reason) throw error
    }
  }

  async function* pages() {
    for await (const { events, cursor } of untilAborted()) yield { events, cursor }
  }

  async function* events() {
    for await (const { events, cursor, from } of untilAborted()) {
      for (const [at, event] of events.entries()) {
        if (signal?.aborted === true) return
        yield { event, cursor: at === events.length - 1 ? cursor : from }
      }
    }
  }
  return { pages, [Symbol.asyncIterator]: events }
}

import assert from 'node:assert/strict'
import { parseInstant } from '@bursar/base'
import type { StoredOrder } from '../../support/change-order.ts'

/** Followers of a feed, which must see each version exactly once and in order. */

export type Sent = { readonly status: number; readonly text: string }

/** Sends a GET until some server answers it. */
export type Ask = (path: string, token: string) => Promise<Sent>

export type FeedEvent = {
  readonly type: string
  readonly object: { readonly id: string; readonly kind: string }
  readonly customer_id?: string
  readonly created_at: string
  readonly as_of: string
}

/** Reads a feed from its beginning, and goes on until it is ended and has come to its end. */
export function follow(ask: Ask, path: string, token: string) {
  const seen: FeedEvent[] = []
  let isOver = false
  const run = async () => {
    let cursor = ''
    for (;;) {
      const wasOver = isOver
      const { status, text } = await ask(`${path}page_cursor=${encodeURIComponent(cursor)}`, token)
      assert.equal(status, 200, text)
      const { items, next_page_cursor: next, resume_cursor: resume } = JSON.parse(text)
      seen.push(...items)
      cursor = resume
      if (next === undefined && wasOver) return
    }
  }
  const running = run()
  // A test that fails before it ends the follower closes what answers it.
  running.catch(() => undefined)
  return {
    seen,
    end: async () => {
      isOver = true
      await running
    },
  }
}

/** An event as `versionsOf` names its version. */
export const shownEvent = ({ object, created_at: at }: FeedEvent): string =>
  `${object.kind} ${object.id.replaceAll('-', '')} ${parseInstant(at)?.micros}`

/** The stored versions of a customer, in the order of their numbers. */
export const versionsOf = ({ versions }: StoredOrder, customer: string): readonly string[] =>
  versions
    .filter(({ customerId }) => customerId === customer)
    .toSorted((one, other) => one.change - other.change)
    .map(({ kind, id, storedAt }) => `${kind} ${id} ${storedAt}`)

import { BursarError } from './errors.ts'
import type { AnswerHeaders } from './fetch.ts'

/** One page of a list. */
export type Page<T> = {
  readonly items: readonly T[]
  /** Pass it as `page_cursor` to continue later; undefined on the last page. */
  readonly nextPageCursor: string | undefined
  /** Of events only, on every page: the cursor that shows what comes later, also after the last. */
  readonly resumeCursor?: string
  readonly requestId: string | undefined
  /** Of the answer. Empty where a filter without values sent no request. */
  readonly headers: AnswerHeaders
}

/** A list that requests its pages while it is read. Each loop starts anew. */
export type List<T> = AsyncIterable<T> & {
  pages(): AsyncIterable<Page<T>>
  /** Every record. Rejects with a BursarError if there are more than `max`. */
  toArray(options: { readonly max: number }): Promise<T[]>
}

/** A list by its pages; without a cursor, `readPage` reads the first one. */
export function listOf<T>(
  readPage: (cursor: string | undefined) => Promise<Page<T>>,
  signal: AbortSignal | undefined,
): List<T> {
  async function* pages() {
    let cursor: string | undefined
    do {
      const page: Page<T> = await readPage(cursor)
      yield page
      // Such a server would keep the loop going for ever.
      if (page.nextPageCursor !== undefined && page.nextPageCursor === cursor) {
        const detail = 'the server answered the cursor of the same page again'
        throw new BursarError({ detail, requestId: page.requestId })
      }
      cursor = page.nextPageCursor
    } while (cursor !== undefined)
  }
  async function* items() {
    for await (const page of pages()) {
      for (const item of page.items) {
        signal?.throwIfAborted()
        yield item
      }
    }
  }
  return { pages, [Symbol.asyncIterator]: items, toArray: ({ max }) => collect(items(), max) }
}

/** A list that was cut at `max` would look like a whole one, so it is refused. */
async function collect<T>(items: AsyncIterable<T>, max: number): Promise<T[]> {
  if (!Number.isSafeInteger(max) || max < 1) {
    throw new TypeError('max must be a whole number of 1 or more')
  }
  const read: T[] = []
  for await (const item of items) {
    if (read.length === max) {
      const detail = `the list has more than ${max} records; raise max, filter, or read it in a loop`
      throw new BursarError({ detail })
    }
    read.push(item)
  }
  return read
}

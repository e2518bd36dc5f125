import { BursarError } from './errors.ts'

/** One page of a list. */
export type Page<T> = {
  readonly items: readonly T[]
  /** Pass it as `page_cursor` to continue later; undefined on the last page. */
  readonly nextPageCursor: string | undefined
  readonly requestId: string | undefined
}

/** A list that requests its pages while it is read. Each loop starts anew. */
export type List<T> = AsyncIterable<T> & { pages(): AsyncIterable<Page<T>> }

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
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { items } of pages()) {
        for (const item of items) {
          signal?.throwIfAborted()
          yield item
        }
      }
    },
  }
}

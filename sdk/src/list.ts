/** One page of a list. */
export type Page<T> = {
  readonly items: readonly T[]
  /** Pass it as `page_cursor` to continue later; undefined on the last page. */
  readonly nextPageCursor: string | undefined
  readonly requestId: string | undefined
}

/** A list that requests its pages while it is read. Each loop starts anew. */
export type List<T> = AsyncIterable<T> & { pages(): AsyncIterable<Page<T>> }

/** The list that starts at a cursor; a server that repeats a cursor is stopped. */
export function listOf<T>(
  readPage: (cursor: string | undefined) => Promise<Page<T>>,
  first: string | undefined,
  signal: AbortSignal | undefined,
): List<T> {
  async function* pages() {
    let cursor = first
    do {
      const page: Page<T> = await readPage(cursor)
      yield page
      if (page.nextPageCursor !== undefined && page.nextPageCursor === cursor) {
        throw new Error('the server answered the cursor of the same page again')
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

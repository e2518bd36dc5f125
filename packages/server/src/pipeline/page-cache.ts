import type { Answer } from '@bursar/contract'

/** A page as it was answered, its number of records, and what its headers say of the parameters. */
export type KeptPage = {
  readonly answer: Answer
  readonly rows: number
  readonly ignored: readonly string[] | undefined
  readonly joined?: readonly string[] | undefined
}

/**
 * Pages that were requested more than once, the ones used last, up to a number of bytes. The cache
 * does not know whether a page is still true: its caller compares the entity tag.
 */
export type PageCache = {
  find(key: string): KeptPage | undefined
  /** Keeps a copy of the page, if its key was passed before. */
  keep(key: string, page: KeptPage): void
}

type Entry = { readonly page: KeptPage | undefined; bytes: number }

/** The objects of an entry, roughly. */
const ENTRY_BYTES = 500

export function openPageCache(bytesMax: number): PageCache {
  // A Map keeps the order of insertion, so the first entry is the least recently used.
  const entries = new Map<string, Entry>()
  let bytes = 0
  const drop = (key: string) => {
    bytes -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }
  /** Counts bytes of an entry, unless it was dropped, and drops the oldest ones. */
  const grow = (key: string, entry: Entry, more: number) => {
    if (entries.get(key) !== entry) return
    entry.bytes += more
    bytes += more
    for (const oldest of entries.keys()) {
      if (bytes <= bytesMax) return
      drop(oldest)
    }
  }
  const put = (key: string, page: KeptPage | undefined, length: number): Entry => {
    const entry = { page, bytes: 0 }
    drop(key)
    entries.set(key, entry)
    grow(key, entry, ENTRY_BYTES + key.length + length)
    return entry
  }
  return {
    find(key) {
      const entry = entries.get(key)
      if (entry?.page === undefined) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.page
    },
    keep(key, { answer: { status, headers, body = '' }, ...page }) {
      // Most pages are requested once, so the first request leaves no more than its key.
      if (!entries.has(key)) {
        put(key, undefined, 0)
        return
      }
      const copy = Buffer.from(body)
      const coded = new Map<string, Uint8Array>()
      const keepCoded = (coding: string, bodyCoded: Uint8Array) => {
        coded.set(coding, bodyCoded)
        grow(key, entry, bodyCoded.length)
      }
      const answer = { status, headers, body: copy, coded, keepCoded }
      const entry = put(key, { answer, ...page }, copy.length)
    },
  }
}

/** What the client gives to `fetch`: plain values, which every implementation takes. */
export type FetchInit = {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Next.js 14 would keep tokens, accounts and lists on disk for a year. */
  readonly cache?: 'no-store'
  readonly signal?: AbortSignal
}

export type AnswerHeaders = {
  get(name: string): string | null
  has(name: string): boolean
  forEach(each: (value: string, name: string) => void): void
}

/** What the client reads of an answer. */
export type FetchAnswer = {
  readonly ok: boolean
  readonly status: number
  readonly headers: AnswerHeaders
  text(): Promise<string>
}

/** The `fetch` of the runtime or of a library. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>

/**
 * A `fetch` that leaves out what the runtime's refuses before it sends anything. Workers of before
 * November 2024 refuse `cache`, and keep nothing. Node refuses the signal of a simulated browser;
 * without it, a request that nobody waits for any more goes on.
 */
export const lenient =
  (fetch: Fetch): Fetch =>
  async (url, init) => {
    try {
      return await fetch(url, init)
    } catch (error) {
      const { cache, ...uncached } = init
      if (cache && /'cache' field/.test(String(error))) return lenient(fetch)(url, uncached)
      const { signal, ...endless } = init
      if (signal && /Expected signal/.test(String(error))) return lenient(fetch)(url, endless)
      throw error
    }
  }

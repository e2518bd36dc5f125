import { within } from './abort.ts'
import { systemTime } from './system-time.ts'

/** The answer of an OAuth token endpoint. */
export type AccessToken = { readonly access_token: string; readonly expires_in?: number }

export type Tokens = {
  /** A token that is good for now. Concurrent callers share one request. */
  current(caller?: Caller): Promise<string>
  /** Forgets a token that the server refused, unless a newer one has replaced it. */
  refuse(token: string): void
}

/** A call that needs a token. */
export type Caller = { readonly signal?: AbortSignal | undefined; isOver?: boolean }

/** Requests a token; `extend` is called for each further attempt, with the delay before it. */
export type FetchToken = (extend: (delayMs: number) => void) => Promise<AccessToken>

/** For answers without `expires_in`; the server's 401 ends a token that lives shorter. */
const LIFE_SECONDS_DEFAULT = 300
/** A token is renewed in the last minute of its life, or in the last fifth of a short life. */
const RENEWAL_MS_MAX = 60_000
const RENEWAL_SHARE = 0.2

/** By how much an attempt may miss its time-out on a busy machine. */
const GRACE_MS = 1000

const bearerToken = /^[\w.~+/-]+=*$/

type Held = { readonly token: string; readonly renewAt: number; readonly expiresAt: number }

/**
 * A request for a token, for all callers. In a Worker it gets no outcome if the incoming request
 * that began it ends first. So it is begun anew once an attempt has had its time, and before if its
 * caller is over and others wait.
 */
type Pending = {
  readonly token: Promise<string>
  readonly caller: Caller
  readonly leftMs: () => number
}

export function openTokens(fetchToken: FetchToken, timeoutMs: number): Tokens {
  let held: Held | undefined
  let pending: Pending | undefined

  const renew = async (extend: (delayMs: number) => void) => {
    const { access_token: token, expires_in } = await fetchToken(extend)
    // Checked here, because the error of a malformed header would quote the token.
    if (typeof token !== 'string' || !bearerToken.test(token)) {
      throw new TypeError('the access_token is no token of RFC 6750')
    }
    // A string of digits is taken too, because some issuers send one.
    const seconds = Number(expires_in)
    const lifeMs = (seconds > 0 ? seconds : LIFE_SECONDS_DEFAULT) * 1000
    const expiresAt = systemTime.wallMs() + lifeMs
    held = {
      token,
      expiresAt,
      renewAt: expiresAt - Math.min(RENEWAL_MS_MAX, lifeMs * RENEWAL_SHARE),
    }
    return token
  }

  const begin = (caller: Caller): Pending => {
    let dueAt = 0
    const extend = (delayMs: number) => {
      dueAt = systemTime.elapsedMs() + delayMs + timeoutMs + GRACE_MS
    }
    extend(0)
    const token = renew(extend).finally(() => {
      if (pending === begun) pending = undefined
    })
    const begun = { token, caller, leftMs: () => dueAt - systemTime.elapsedMs() }
    return begun
  }

  return {
    current: async (caller = {}) => {
      for (;;) {
        const now = systemTime.wallMs()
        if (held !== undefined && now < held.renewAt) return held.token
        const old = held !== undefined && now < held.expiresAt ? held.token : undefined
        const isLost = pending?.caller.isOver === true && old === undefined
        if (pending === undefined || isLost || pending.leftMs() <= 0) pending = begin(caller)
        const { token, leftMs } = pending
        // While the old token serves nobody waits; a failure is repeated by the next caller.
        token.catch(() => {})
        const current = old ?? (await within(token, leftMs(), caller.signal))
        if (current !== undefined) return current
      }
    },
    refuse: (token) => {
      if (held?.token === token) held = undefined
    },
  }
}

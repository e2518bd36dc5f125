import { systemTime } from './system-time.ts'

/** The answer of an OAuth token endpoint. */
export type AccessToken = { readonly access_token: string; readonly expires_in?: number }

export type Tokens = {
  /** A token that is good for now. Concurrent callers share one request. */
  current(): Promise<string>
  /** Forgets a token that the server refused, unless a newer one has replaced it. */
  refuse(token: string): void
}

/** For answers without `expires_in`; the server's 401 ends a token that lives shorter. */
const LIFE_SECONDS_DEFAULT = 300
/** A token is renewed in the last minute of its life, or in the last fifth of a short life. */
const RENEWAL_MS_MAX = 60_000
const RENEWAL_SHARE = 0.2

const bearerToken = /^[\w.~+/-]+=*$/

type Held = { readonly token: string; readonly renewAt: number; readonly expiresAt: number }

export function openTokens(fetchToken: () => Promise<AccessToken>): Tokens {
  let held: Held | undefined
  let pending: Promise<string> | undefined

  const renew = async () => {
    const { access_token: token, expires_in } = await fetchToken()
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

  return {
    current: async () => {
      const now = systemTime.wallMs()
      if (held !== undefined && now < held.renewAt) return held.token
      pending ??= renew().finally(() => {
        pending = undefined
      })
      if (held === undefined || now >= held.expiresAt) return pending
      // The old token still serves, so nobody waits; a failure is repeated by the next caller.
      pending.catch(() => {})
      return held.token
    },
    refuse: (token) => {
      if (held?.token === token) held = undefined
    },
  }
}

import { limitsOf } from '@bursar/base'
import type { Caller } from '@bursar/contract'
import type { Client } from '@bursar/records'

const limits = limitsOf({
  /** How long a checked token stays in memory. */
  checkedTokenLifeSeconds: 60,
})

/** What the check of a token found. The client object is replaced when the client changes. */
export type CheckedToken = {
  readonly caller: Caller
  /** Undefined for a person. */
  readonly client: Client | undefined
  readonly tokenId: string | undefined
}

/** Checked tokens by digest. An entry lives for a minute, or until its token expires. */
export type CheckedTokens = {
  find(digest: string, now: bigint): CheckedToken | undefined
  add(digest: string, token: CheckedToken, expiresAtSeconds: number, now: bigint): void
  clear(): void
}

const LIFE = BigInt(limits.checkedTokenLifeSeconds) * 1_000_000n

/** Evicts the oldest entry when the cache is full. That token is then checked once more. */
export function openCheckedTokens(sizeMax: number): CheckedTokens {
  const entries = new Map<string, { token: CheckedToken; from: bigint; until: bigint }>()
  return {
    find: (digest, now) => {
      const entry = entries.get(digest)
      // If the clock is set back, an entry must not live longer.
      const isLive = entry !== undefined && entry.from <= now && now < entry.until
      return isLive ? entry.token : undefined
    },
    add: (digest, token, expiresAtSeconds, now) => {
      const expiry = BigInt(Math.floor(expiresAtSeconds)) * 1_000_000n
      // A Map keeps insertion order; deleting first moves the token to the end.
      entries.delete(digest)
      const until = expiry < now + LIFE ? expiry : now + LIFE
      entries.set(digest, { token, from: now, until })
      const oldest = entries.size > sizeMax ? entries.keys().next() : undefined
      if (oldest !== undefined && oldest.done !== true) entries.delete(oldest.value)
    },
    clear: () => entries.clear(),
  }
}

import type { Principal } from '../contract/principal.ts'
import { verifiedTokenLifeSeconds } from './limits.ts'

/** Tokens that held when they were verified, by digest, for a minute or until they expire. */
export type VerifiedTokens = {
  find(digest: string, now: bigint): Principal | undefined
  remember(digest: string, principal: Principal, expiresAtSeconds: number, now: bigint): void
  forgetAll(): void
}

type Entry = { readonly principal: Principal; readonly until: bigint }

const LIFE = BigInt(verifiedTokenLifeSeconds) * 1_000_000n

/** Holds so many tokens at most; the one remembered first makes room, which costs it one verification. */
export function openVerifiedTokens(sizeMax: number): VerifiedTokens {
  const entries = new Map<string, Entry>()
  return {
    find: (digest, now) => {
      const entry = entries.get(digest)
      return entry !== undefined && now < entry.until ? entry.principal : undefined
    },
    remember: (digest, principal, expiresAtSeconds, now) => {
      const expiry = BigInt(Math.floor(expiresAtSeconds)) * 1_000_000n
      // Deleted first, so that a token remembered again counts as new: a Map keeps the order of insertion.
      entries.delete(digest)
      entries.set(digest, { principal, until: expiry < now + LIFE ? expiry : now + LIFE })
      const oldest = entries.size > sizeMax ? entries.keys().next() : undefined
      if (oldest !== undefined && oldest.done !== true) entries.delete(oldest.value)
    },
    forgetAll: () => entries.clear(),
  }
}

import type { Caller } from '../../contract/principal.ts'
import { verifiedTokenLifeSeconds } from '../limits.ts'

/** Tokens that held when they were verified, by digest, for a minute or until they expire. */
export type VerifiedTokens = {
  find(digest: string, now: bigint): Caller | undefined
  remember(digest: string, caller: Caller, expiresAtSeconds: number, now: bigint): void
  forgetAll(): void
}

type Entry = { readonly caller: Caller; readonly from: bigint; readonly until: bigint }

const LIFE = BigInt(verifiedTokenLifeSeconds) * 1_000_000n

/** Holds so many tokens at most; the one remembered first makes room, which costs it one verification. */
export function openVerifiedTokens(sizeMax: number): VerifiedTokens {
  const entries = new Map<string, Entry>()
  return {
    find: (digest, now) => {
      const entry = entries.get(digest)
      // A clock that was set back must not make what is remembered hold for longer.
      const holds = entry !== undefined && entry.from <= now && now < entry.until
      return holds ? entry.caller : undefined
    },
    remember: (digest, caller, expiresAtSeconds, now) => {
      const expiry = BigInt(Math.floor(expiresAtSeconds)) * 1_000_000n
      // Deleted first, so that a token remembered again counts as new: a Map keeps the order of insertion.
      entries.delete(digest)
      entries.set(digest, { caller, from: now, until: expiry < now + LIFE ? expiry : now + LIFE })
      const oldest = entries.size > sizeMax ? entries.keys().next() : undefined
      if (oldest !== undefined && oldest.done !== true) entries.delete(oldest.value)
    },
    forgetAll: () => entries.clear(),
  }
}

import { hash } from 'node:crypto'
import { asTenant, type Principal } from '../contract/principal.ts'
import type { Client } from '../store/credentials.ts'
import { verifiedTokenLifeSeconds, verifiedTokensMax } from './limits.ts'
import { readToken, type TokenSources } from './read-token.ts'
import type { States } from './states.ts'
import type { UseRecorder } from './use-recorder.ts'

export type Verifier = {
  /**
   * Who a bearer token speaks for. A token seen within the last minute is answered at once, any other by a promise:
   * await both. Throws or rejects with a Problem 503 where the states are too old to decide by.
   */
  verify(token: string): Principal | Promise<Principal | 'invalid'>
}

export type VerifierSources = TokenSources & { readonly uses: UseRecorder }

type Verified = { readonly principal: Principal; readonly until: bigint }

/** Verifies tokens locally, remembering by digest those that held. */
export function openVerifier(sources: VerifierSources): Verifier {
  const { states, issuers, clock } = sources
  const verified = new Map<string, Verified>()
  let knownBy: States | undefined
  let generation = -1

  // A key, a refused token or a client has changed: nothing remembered from before may outlive that.
  const forgetIfChanged = () => {
    if (states.current() === knownBy && issuers.generation() === generation) return
    verified.clear()
    knownBy = states.current()
    generation = issuers.generation()
  }
  const verifyInFull = async (token: string, digest: string): Promise<Principal | 'invalid'> => {
    const [statesBefore, generationBefore] = [states.current(), issuers.generation()]
    const good = await readToken(token, sources)
    if (good === undefined) return 'invalid'
    const principal = principalOf(good.client, good.scopes)
    if (principal === undefined) return 'invalid'
    // An issuer's client never comes to the token endpoint, so this is where it is seen.
    if (good.client.method.kind === 'issuer') sources.uses.record(good.client, undefined)
    // While the signature was checked the states may have moved, and the token be refused by the newer ones. Then it
    // is not remembered, and the next request decides anew.
    const isSame = states.current() === statesBefore && issuers.generation() === generationBefore
    if (isSame) {
      if (verified.size >= verifiedTokensMax) dropOldest(verified)
      verified.set(digest, { principal, until: rememberUntil(good.claims.expiresAt, clock()) })
    }
    return principal
  }
  return {
    verify: (token) => {
      states.requireFresh()
      forgetIfChanged()
      // A token has several spellings that verify; each is an entry of its own, so what holds for one cannot be
      // taken for another's.
      const digest = hash('sha256', token, 'base64')
      const known = verified.get(digest)
      if (known !== undefined && clock() < known.until) return known.principal
      return verifyInFull(token, digest)
    },
  }
}

/** Undefined for the operator's own clients: they see no customer's records. */
function principalOf(client: Client, scopes: readonly string[]): Principal | undefined {
  if (client.customerId === null) return undefined
  return { clientId: client.id, tenant: asTenant(client.customerId), scopes: new Set(scopes) }
}

function rememberUntil(expiresAtSeconds: number, now: bigint): bigint {
  const expiry = BigInt(Math.floor(expiresAtSeconds)) * 1_000_000n
  const latest = now + BigInt(verifiedTokenLifeSeconds) * 1_000_000n
  return expiry < latest ? expiry : latest
}

// A Map keeps the order of insertion. The oldest is not always the least used; it costs one verification.
function dropOldest(verified: Map<string, Verified>): void {
  const oldest = verified.keys().next()
  if (oldest.done !== true) verified.delete(oldest.value)
}

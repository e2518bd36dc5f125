import { hash } from 'node:crypto'
import { asTenant, type Principal } from '../contract/principal.ts'
import type { Client } from '../store/credentials.ts'
import { verifiedTokensMax } from './limits.ts'
import { readToken, type TokenSources } from './read-token.ts'
import type { States } from './states.ts'
import type { UseRecorder } from './use-recorder.ts'
import { openVerifiedTokens } from './verified-tokens.ts'

export type Verifier = {
  /**
   * Who a bearer token speaks for. A token seen within the last minute is answered at once, any other by a promise:
   * await both. Throws or rejects with a Problem 503 where the states are too old to decide by.
   */
  verify(token: string): Principal | Promise<Principal | 'invalid'>
}

export type VerifierSources = TokenSources & { readonly uses: UseRecorder }

/** Verifies tokens locally, remembering by digest those that held. */
export function openVerifier(sources: VerifierSources): Verifier {
  const { states, issuers, clock } = sources
  const verified = openVerifiedTokens(verifiedTokensMax)
  let knownBy: States | undefined
  let generation = -1

  // A key, a refused token or a client has changed: nothing remembered from before may outlive that.
  const forgetIfChanged = () => {
    if (states.current() === knownBy && issuers.generation() === generation) return
    verified.forgetAll()
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
    if (isSame) verified.remember(digest, principal, good.claims.expiresAt, clock())
    return principal
  }
  return {
    verify: (token) => {
      states.requireFresh()
      forgetIfChanged()
      // A token has several spellings that verify; each is an entry of its own, so what holds for one cannot be
      // taken for another's.
      const digest = hash('sha256', token, 'base64')
      return verified.find(digest, clock()) ?? verifyInFull(token, digest)
    },
  }
}

/** Undefined for the operator's own clients: they see no customer's records. */
function principalOf(client: Client, scopes: readonly string[]): Principal | undefined {
  if (client.customerId === null) return undefined
  return { clientId: client.id, tenant: asTenant(client.customerId), scopes: new Set(scopes) }
}

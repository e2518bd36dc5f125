import { hash } from 'node:crypto'
import { asTenant, type Caller, type Principal } from '../../contract/principal.ts'
import type { Client } from '../../store/credentials.ts'
import type { UseRecorder } from '../clients/use-recorder.ts'
import { verifiedTokensMax } from '../limits.ts'
import { readToken, type TokenSources } from './read-token.ts'
import type { States } from './states.ts'
import { openVerifiedTokens } from './verified-tokens.ts'

export type Verifier = {
  /**
   * Who a bearer token speaks for. A token seen within the last minute is answered at once, any other by a promise:
   * await both. Throws or rejects with a Problem 503 where the states are too old to decide by.
   */
  verify(token: string): Principal | 'invalid' | Promise<Principal | 'invalid'>
  /** The same for any client; one of the operator's own has no tenant. */
  identify(token: string): Caller | Promise<Caller | 'invalid'>
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
  const verifyInFull = async (token: string, digest: string): Promise<Caller | 'invalid'> => {
    const [statesBefore, generationBefore] = [states.current(), issuers.generation()]
    const good = await readToken(token, sources)
    if (good === undefined) return 'invalid'
    const caller = callerOf(good.client, good.scopes)
    // An issuer's client never comes to the token endpoint, so this is where it is seen.
    if (good.client.method.kind === 'issuer') sources.uses.record(good.client, undefined)
    // While the signature was checked the states may have moved, and the token be refused by the newer ones. Then it
    // is not remembered, and the next request decides anew.
    const isSame = states.current() === statesBefore && issuers.generation() === generationBefore
    if (isSame) verified.remember(digest, caller, good.claims.expiresAt, clock())
    return caller
  }
  const identify = (token: string) => {
    states.requireFresh()
    forgetIfChanged()
    // A token has several spellings that verify; each is an entry of its own, so what holds for one cannot be
    // taken for another's.
    const digest = hash('sha256', token, 'base64')
    return verified.find(digest, clock()) ?? verifyInFull(token, digest)
  }
  return {
    identify,
    verify: (token) => {
      const caller = identify(token)
      return caller instanceof Promise ? caller.then(asCustomer) : asCustomer(caller)
    },
  }
}

/** The operator's own clients see no customer's records, so to a customer's operation they are nobody. */
const asCustomer = (caller: Caller | 'invalid'): Principal | 'invalid' =>
  caller === 'invalid' || caller.tenant === null ? 'invalid' : caller

function callerOf({ id: clientId, customerId }: Client, scopes: readonly string[]): Caller {
  const tenant = customerId === null ? null : asTenant(customerId)
  return tenant === null
    ? { clientId, tenant, scopes: new Set(scopes) }
    : { clientId, tenant, scopes: new Set(scopes) }
}

import { hash } from 'node:crypto'
import { limitsOf, type Right } from '@bursar/base'
import {
  asTenant,
  type Caller,
  type OperatorPrincipal,
  type OperatorScope,
  type Principal,
} from '@bursar/contract'
import type { Client } from '@bursar/records'
import type { UseRecorder } from '../clients/use-recorder.ts'
import { openCheckedTokens } from './checked-tokens.ts'
import type { KnownCredentials } from './credential-cache.ts'
import type { SignedIn } from './own-token.ts'
import { isIssuedBefore, readToken, type TokenDeps, type ValidToken } from './read-token.ts'
import { isRefusal, type Refusal } from './refusal.ts'

const limits = limitsOf({
  /** Cache of checked tokens, by digest: about 4 MB. */
  checkedTokensMax: 10_000,
})

export type TokenCheck = {
  /** The customer of a token, at once if it is cached. A Problem 503 if the cache is too old. */
  checkToken(token: string, digest?: string): Principal | Refusal | Promise<Principal | Refusal>
  /** The same for any client. A client of the operator has no tenant. */
  identify(token: string, digest?: string): Caller | Promise<Caller | Refusal>
  /**
   * Whether what the token of a caller rests on still holds: its key, its client, the client's
   * scope, and that nobody revoked it. A request goes on when its token expires.
   */
  stillMay(caller: Caller, scope: string | null | undefined): boolean
}

export type TokenCheckDeps = TokenDeps & { readonly uses: UseRecorder }

/** Several encodings of one token are valid. Each has its own digest. */
export const tokenDigest = (token: string): string => hash('sha256', token, 'base64')

/** Checks tokens in this process and caches valid ones by digest. */
export function openTokenCheck(deps: TokenCheckDeps): TokenCheck {
  const { cache, issuers, clock } = deps
  const checked = openCheckedTokens(limits.checkedTokensMax)
  let signingKeys: KnownCredentials['signingKeys'] | undefined
  let generation = -1
  /** What the token of a caller rests on. */
  const granted = new WeakMap<Caller, ValidToken>()

  // Keys change rarely, so then all cached tokens are checked again.
  const clearIfKeysChanged = () => {
    if (cache.current().signingKeys === signingKeys && issuers.generation() === generation) return
    checked.clear()
    signingKeys = cache.current().signingKeys
    generation = issuers.generation()
  }
  /** The caller of a cached token, unless its client has changed or the token was denied since. */
  const findCaller = (digest: string): Caller | undefined => {
    const found = checked.find(digest, clock())
    if (found === undefined) return undefined
    const { clients, deniedTokens } = cache.current()
    const { caller, client, tokenId } = found
    const isDenied = tokenId !== undefined && deniedTokens.has(tokenId)
    const isCurrent = client === undefined || clients.get(client.id) === client
    return isCurrent && !isDenied ? caller : undefined
  }
  const checkInFull = async (token: string, digest: string): Promise<Caller | Refusal> => {
    const [keysBefore, generationBefore] = [cache.current().signingKeys, issuers.generation()]
    const valid = await readToken(token, deps)
    if (isRefusal(valid)) return valid
    const { claims } = valid
    const client = 'person' in valid ? undefined : valid.client
    const caller = 'person' in valid ? personOf(valid.person) : callerOf(valid.client, valid.scopes)
    granted.set(caller, valid)
    // A client of a trusted issuer never calls the token endpoint, so its use is recorded here.
    if (client?.method.kind === 'issuer') deps.uses.record(client, undefined)
    // If keys changed during the check, the token's key may be revoked now.
    const { signingKeys: keysNow } = cache.current()
    if (keysNow === keysBefore && issuers.generation() === generationBefore) {
      checked.add(digest, { caller, client, tokenId: claims.tokenId }, claims.expiresAt, clock())
    }
    return caller
  }
  const identify = (token: string, digest = tokenDigest(token)) => {
    cache.requireFresh()
    clearIfKeysChanged()
    return findCaller(digest) ?? checkInFull(token, digest)
  }
  return {
    identify,
    stillMay: (caller, scope) => {
      const token = granted.get(caller)
      if (token === undefined) return true
      if (!token.claims.isKeyHeld()) return false
      // A person's rights are in the token alone.
      if ('person' in token) return true
      const { clients, deniedTokens } = cache.current()
      const { tokenId, issuedAt } = token.claims
      const client = clients.get(token.client.id)
      if (client === undefined || client.disabledAt !== undefined) return false
      if (client.boundTo !== token.client.boundTo) return false
      if (tokenId !== undefined && deniedTokens.has(tokenId)) return false
      const isScoped = typeof scope !== 'string' || client.scopes.includes(scope)
      return isScoped && !isIssuedBefore(issuedAt, client)
    },
    checkToken: (token, digest) => {
      const caller = identify(token, digest)
      return caller instanceof Promise ? caller.then(asCustomer) : asCustomer(caller)
    },
  }
}

/** Clients of the operator have no customer, so customer operations refuse their tokens. */
function asCustomer(caller: Caller | Refusal): Principal | Refusal {
  if (isRefusal(caller)) return caller
  return caller.tenant === null ? 'client of the operator' : caller
}

function callerOf(
  { id: clientId, customerId, boundTo }: Client,
  scopes: readonly string[],
): Caller {
  const tenant = customerId === null ? null : asTenant(customerId)
  return tenant === null
    ? { clientId, tenant, boundTo, scopes: new Set(scopes) }
    : { clientId, tenant, scopes: new Set(scopes) }
}

/** A person reads what the operator's clients read, each right by its scopes. */
function personOf({ issuer, subject, customerId, rights }: SignedIn): OperatorPrincipal {
  const scopes = [...rights].flatMap((right) => scopesOfRight[right])
  // The health of the service is no business of a customer's staff.
  const withheld = customerId === null ? undefined : 'ingest:read_health'
  return {
    clientId: `${issuer} ${subject}`,
    tenant: null,
    boundTo: customerId,
    person: { issuer, subject },
    scopes: new Set(scopes.filter((scope) => scope !== withheld)),
  }
}

const scopesOfRight: Readonly<Record<Right, readonly OperatorScope[]>> = {
  look_up: ['ingest:search', 'ingest:read_history', 'ingest:read_health'],
  see_full: ['ingest:read_record'],
  export: ['ingest:export'],
  audit: ['ingest:read_audit'],
}

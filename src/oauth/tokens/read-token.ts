import { decodeJwt, decodeProtectedHeader } from 'jose'
import type { Clock } from '../../platform/clock.ts'
import type { Client } from '../../store/credentials.ts'
import { tokenLengthMax } from '../limits.ts'
import type { TrustedIssuers } from './external-token.ts'
import { readOwnToken, type TokenClaims } from './own-token.ts'
import { externalKey, type StateKeeper, type States } from './states.ts'

/** A token that is good now, and the client of ours that it speaks for. */
export type GoodToken = {
  readonly claims: TokenClaims
  readonly client: Client
  /** Scopes that the token names and the client may still have. */
  readonly scopes: readonly string[]
}

export type TokenSources = {
  readonly states: StateKeeper
  readonly issuers: TrustedIssuers
  /** Our own issuer: the public URL. Asked each time, since a port may be known only after listening. */
  readonly issuer: () => string
  readonly clock: Clock
}

/**
 * Verifies a token in full, without any cache. Undefined where anything is wrong with it, whatever it is. Throws a
 * Problem 503 where that cannot be decided.
 */
export async function readToken(
  token: string,
  sources: TokenSources,
): Promise<GoodToken | undefined> {
  const claims = await readClaims(token, sources)
  if (claims === undefined) return undefined
  const client = await findClient(claims, sources)
  if (client === undefined || client.disabledAt !== undefined) return undefined
  if (BigInt(claims.issuedAt) * 1_000_000n < client.notBefore) return undefined
  const scopes = claims.scopes.filter((scope) => client.scopes.includes(scope))
  return { claims, client, scopes }
}

async function readClaims(token: string, sources: TokenSources): Promise<TokenClaims | undefined> {
  const { states, issuers, clock } = sources
  const claimed = readUnverified(token)
  if (claimed === undefined) return undefined
  const issuer = sources.issuer()
  if (claimed.issuer !== issuer) {
    return issuers.has(claimed.issuer) ? issuers.read(token, claimed.issuer) : undefined
  }
  // Another process may have rotated the keys a moment ago.
  if (!states.current().signingKeys.has(claimed.kid)) await states.refreshForUnknownKey()
  return readOwnToken(token, claimed.kid, issuer, states.current(), clock)
}

// jose forgives blanks and padding in base64url; RFC 7515 section 2 does not.
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Who the token says it is from, which only chooses the keys that it is then checked by. */
function readUnverified(token: string): { issuer: string; kid: string } | undefined {
  if (token.length > tokenLengthMax || !compactForm.test(token)) return undefined
  try {
    const { kid } = decodeProtectedHeader(token)
    const { iss } = decodeJwt(token)
    return typeof kid === 'string' && typeof iss === 'string' ? { issuer: iss, kid } : undefined
  } catch {
    return undefined
  }
}

async function findClient(
  claims: TokenClaims,
  { states, issuer }: TokenSources,
): Promise<Client | undefined> {
  const isOwn = claims.issuer === issuer()
  const lookUp = ({ clients, clientsByExternalId }: States) =>
    isOwn
      ? clients.get(claims.clientId)
      : clientsByExternalId.get(externalKey(claims.issuer, claims.clientId))
  const known = lookUp(states.current())
  if (known !== undefined) return known
  // The signature was right, so the client may have been created since the last poll.
  await states.refresh()
  return lookUp(states.current())
}

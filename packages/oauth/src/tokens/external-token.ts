import { type Clock, grantedBy, limitsOf, type TrustedIssuer } from '@bursar/base'
import type { JWTPayload } from 'jose'
import { checkJwt, timeRefusal } from './check-jwt.ts'
import { type IssuerKeys, type IssuerKeysDeps, openIssuerKeys } from './issuer-keys.ts'
import type { SignedIn, TokenClaims } from './own-token.ts'
import { isRefusal, type Refusal } from './refusal.ts'

const limits = limitsOf({
  /** Clock skew of another issuer. FAPI 2.0 requires 10 s and forbids more than 60 s. */
  issuerSkewSeconds: 30,
  /** The longest life of another issuer's token. Large issuers default to 24 h. */
  issuerTokenLifeSecondsMax: 86_400,
  /** A person's token is not revoked here, so it must end soon after the issuer ends it. */
  personTokenLifeSecondsMax: 3600,
})

/** The issuers of the configuration, with their keys. */
export type TrustedIssuers = {
  /** The claims of a valid token. Throws a Problem 503 if the issuer's keys are unknown or old. */
  read(token: string, issuer: string): Promise<TokenClaims | Refusal>
  /** Increases when the keys of an issuer change. */
  generation(): number
  /** Fetches the keys of every issuer. */
  refresh(): Promise<void>
  close(): void
}

type TrustedIssuersDeps = Omit<IssuerKeysDeps, 'issuer'> & {
  readonly clock: Clock
  readonly issuers: readonly TrustedIssuer[]
}

export function openTrustedIssuers({
  issuers,
  clock,
  ...deps
}: TrustedIssuersDeps): TrustedIssuers {
  const opened = issuers.map((issuer) => ({ issuer, keys: openIssuerKeys({ ...deps, issuer }) }))
  const byName = new Map(opened.map((trusted) => [trusted.issuer.issuer, trusted]))
  return {
    read: async (token, name) => {
      const trusted = byName.get(name)
      if (trusted === undefined) return 'unknown issuer'
      return readExternalToken(token, trusted.issuer, trusted.keys, clock)
    },
    generation: () => opened.reduce((sum, { keys }) => sum + keys.generation(), 0),
    refresh: async () => {
      await Promise.all(opened.map(({ keys }) => keys.refresh()))
    },
    close: () => {
      for (const { keys } of opened) keys.close()
    },
  }
}

async function readExternalToken(
  token: string,
  issuer: TrustedIssuer,
  keys: IssuerKeys,
  clock: Clock,
): Promise<TokenClaims | Refusal> {
  const now = clock()
  const checked = await checkJwt(token, keys.find, now, {
    algorithms: [...issuer.algorithms],
    ...(issuer.typ !== 'any' && { typ: issuer.typ }),
    issuer: issuer.issuer,
    audience: issuer.audience,
    requiredClaims: ['exp', 'iat'],
    clockTolerance: limits.issuerSkewSeconds,
  })
  if (isRefusal(checked)) return checked
  const { payload, typ, key } = checked
  if (issuer.typ === 'any' && !isAccessTokenType(typ)) return 'wrong type'
  const { iat = 0, exp = 0, jti } = payload
  const clientId = payload[issuer.clientClaim]
  const scopes = readScopes(payload[issuer.scopeClaim])
  if (typeof clientId !== 'string' || scopes === undefined) return 'wrong claims'
  if (isIdToken(payload)) return 'not client credentials'
  const whose = readBearer(payload, clientId, issuer)
  if (isRefusal(whose)) return whose
  const { issuerSkewSeconds: skew } = limits
  const lifeMax =
    whose.person === undefined ? limits.issuerTokenLifeSecondsMax : limits.personTokenLifeSecondsMax
  const untimely = timeRefusal(iat, exp, { now, skew, lifeMax })
  if (untimely !== undefined) return untimely
  const times = { issuedAt: Math.floor(iat), expiresAt: exp }
  const isKeyHeld = () => keys.has(key)
  return { issuer: issuer.issuer, clientId, scopes, ...times, tokenId: jti, isKeyHeld, ...whose }
}

/** Whether the token is of the client itself, or of which person who signed in to the console. */
function readBearer(
  payload: JWTPayload,
  clientId: string,
  { issuer, people, clientCredentials: { claim, value } }: TrustedIssuer,
): { readonly person?: SignedIn } | Refusal {
  const isOwn = payload[claim] === value.replaceAll('{client}', () => clientId)
  if (people === undefined || clientId !== people.clientId) {
    return isOwn ? {} : 'not client credentials'
  }
  const { sub: subject, [people.claim]: claimed } = payload
  // A token of the console's client itself is nobody's.
  if (typeof subject !== 'string' || subject === '' || isOwn) return 'wrong claims'
  const granted = grantedBy(people, claimed)
  return granted === undefined ? 'no grant' : { person: { issuer, subject, ...granted } }
}

/** A `typ` that some issuer gives its access tokens. A logout token, for example, has another. */
const isAccessTokenType = (typ: string | undefined): boolean =>
  typ === undefined || /^(application\/)?(jwt|at\+jwt)$/i.test(typ)

/** Claims that only ID tokens have (OpenID Connect Core sections 2 and 3.3; Keycloak's `typ`). */
const isIdToken = (payload: JWTPayload): boolean =>
  payload.typ === 'ID' || ['nonce', 'at_hash', 'c_hash', 's_hash'].some((name) => name in payload)

/** Reads `scope` (a string) or `scp` (an array). */
function readScopes(claim: unknown): readonly string[] | undefined {
  if (claim === undefined) return []
  const names = typeof claim === 'string' ? claim.split(' ') : claim
  if (!Array.isArray(names)) return undefined
  return names.filter((name): name is string => typeof name === 'string' && name !== '')
}

import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import type { TrustedIssuer } from '../../platform/trusted-issuers.ts'
import { type IssuerKeys, type IssuerKeysDeps, openIssuerKeys } from './issuer-keys.ts'
import type { TokenClaims } from './own-token.ts'
import { isTimely, verifyJwt } from './verify-jwt.ts'

/** The issuers of the configuration, with their keys. */
export type TrustedIssuers = {
  has(issuer: string): boolean
  /** The claims of a valid token. Throws a Problem 503 if the issuer's keys are unknown or old. */
  read(token: string, issuer: string): Promise<TokenClaims | undefined>
  /** Increases when the keys of an issuer change. */
  generation(): number
  /** Fetches the keys of every issuer. */
  refresh(): Promise<void>
  close(): void
}

type TrustedIssuersDeps = Omit<IssuerKeysDeps, 'issuer'> & {
  readonly issuers: readonly TrustedIssuer[]
}

export function openTrustedIssuers({ issuers, ...deps }: TrustedIssuersDeps): TrustedIssuers {
  const opened = issuers.map((issuer) => ({ issuer, keys: openIssuerKeys({ ...deps, issuer }) }))
  const byName = new Map(opened.map((trusted) => [trusted.issuer.issuer, trusted]))
  return {
    has: (issuer) => byName.has(issuer),
    read: async (token, name) => {
      const trusted = byName.get(name)
      return trusted && readExternalToken(token, trusted.issuer, trusted.keys, deps.clock)
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
): Promise<TokenClaims | undefined> {
  const now = clock()
  const payload = await verifyJwt(token, keys.find, now, {
    algorithms: [...issuer.algorithms],
    ...(issuer.typ !== 'any' && { typ: issuer.typ }),
    issuer: issuer.issuer,
    audience: issuer.audience,
    requiredClaims: ['exp', 'iat', issuer.clientClaim],
    clockTolerance: limits.issuerSkewSeconds,
  })
  if (payload === undefined) return undefined
  const { iat = 0, exp = 0, jti } = payload
  const clientId = payload[issuer.clientClaim]
  const scopes = readScopes(payload[issuer.scopeClaim])
  if (typeof clientId !== 'string' || scopes === undefined) return undefined
  const { issuerSkewSeconds: skew, issuerTokenLifeSecondsMax: lifeMax } = limits
  if (!isTimely(iat, exp, { now, skew, lifeMax })) return undefined
  const { issuer: name } = issuer
  return { issuer: name, clientId, scopes, issuedAt: iat, expiresAt: exp, tokenId: jti }
}

/** Reads `scope` (a string) or `scp` (an array). */
function readScopes(claim: unknown): readonly string[] | undefined {
  if (claim === undefined) return []
  const names = typeof claim === 'string' ? claim.split(' ') : claim
  if (!Array.isArray(names)) return undefined
  return names.filter((name): name is string => typeof name === 'string' && name !== '')
}

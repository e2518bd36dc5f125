import { type JWTPayload, jwtVerify } from 'jose'
import { Problem } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { TrustedIssuer } from '../../platform/trusted-issuers.ts'
import { externalLifeSecondsMax, externalSkewSeconds } from '../limits.ts'
import { type IssuerKeys, openIssuerKeys } from './issuer-keys.ts'
import { isTimely, type TokenClaims } from './own-token.ts'
import type { Every } from './states.ts'

/** The issuers of the configuration with their keys. */
export type TrustedIssuers = {
  has(issuer: string): boolean
  /**
   * The claims of a token of that issuer, `clientId` being the issuer's own name for the client; undefined where
   * anything is wrong with it. Throws a Problem 503 where the issuer's keys are unknown or too old.
   */
  read(token: string, issuer: string): Promise<TokenClaims | undefined>
  /** Rises whenever any issuer's keys are others than before. */
  generation(): number
  /** Reads every issuer's keys now. */
  refresh(): Promise<void>
  close(): void
}

export type TrustedIssuerSources = {
  readonly issuers: readonly TrustedIssuer[]
  readonly clock: Clock
  readonly log: Logger
  readonly every: Every
}

export function openTrustedIssuers(sources: TrustedIssuerSources): TrustedIssuers {
  const { clock } = sources
  const opened = sources.issuers.map((issuer) => {
    const keys = openIssuerKeys({ ...sources, issuer })
    return [issuer.issuer, { issuer, keys }] as const
  })
  const byName = new Map(opened)
  const every = () => [...byName.values()]
  return {
    has: (issuer) => byName.has(issuer),
    read: async (token, name) => {
      const trusted = byName.get(name)
      return trusted && readExternalToken(token, trusted.issuer, trusted.keys, clock)
    },
    generation: () => every().reduce((sum, { keys }) => sum + keys.generation(), 0),
    refresh: async () => {
      await Promise.all(every().map(({ keys }) => keys.refresh()))
    },
    close: () => {
      for (const { keys } of every()) keys.close()
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
  const payload = await verifiedPayload(token, issuer, keys, now)
  if (payload === undefined) return undefined
  const { iat, exp, jti } = payload
  const clientId = payload[issuer.clientClaim]
  const scopes = readScopes(payload[issuer.scopeClaim])
  if (typeof clientId !== 'string' || scopes === undefined) return undefined
  const times = { now, skew: externalSkewSeconds, lifeMax: externalLifeSecondsMax }
  if (!isTimely(iat, exp, times)) return undefined
  return {
    issuer: issuer.issuer,
    clientId,
    scopes,
    issuedAt: iat ?? 0,
    expiresAt: exp ?? 0,
    tokenId: jti,
  }
}

async function verifiedPayload(
  token: string,
  issuer: TrustedIssuer,
  keys: IssuerKeys,
  now: bigint,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, keys.find, {
      algorithms: [...issuer.algorithms],
      ...(issuer.typ !== 'any' && { typ: issuer.typ }),
      issuer: issuer.issuer,
      audience: issuer.audience,
      requiredClaims: ['exp', 'iat', issuer.clientClaim],
      clockTolerance: externalSkewSeconds,
      currentDate: new Date(Number(now / 1000n)),
    })
    return payload
  } catch (error) {
    // Keys that are too old are not the token's fault and must not read as a refusal. All else is, a key that jose
    // cannot use too: it throws plain TypeErrors for those.
    if (error instanceof Problem) throw error
    return undefined
  }
}

/** `scope` as text or `scp` as an array; no claim at all is no scope. Undefined for anything else. */
function readScopes(claim: unknown): readonly string[] | undefined {
  if (claim === undefined) return []
  const names = typeof claim === 'string' ? claim.split(' ') : claim
  if (!Array.isArray(names)) return undefined
  return names.filter((name): name is string => typeof name === 'string' && name !== '')
}

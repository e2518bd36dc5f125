import { type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from 'jose'
import { Problem } from '../../contract/problem.ts'

// jose accepts blanks and padding in base64url; RFC 7515 section 2 does not.
export const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** The claims of a JWT, or undefined if it does not pass. Rethrows a Problem of the key look-up. */
export async function verifyJwt(
  token: string,
  key: CryptoKey | JWTVerifyGetKey,
  now: bigint,
  options: JWTVerifyOptions,
): Promise<JWTPayload | undefined> {
  const getKey: JWTVerifyGetKey = typeof key === 'function' ? key : () => key
  const currentDate = new Date(Number(now / 1000n))
  try {
    return (await jwtVerify(token, getKey, { ...options, currentDate })).payload
  } catch (error) {
    // jose throws plain TypeErrors for keys that it cannot use, so every other error is a refusal.
    if (error instanceof Problem) throw error
    return undefined
  }
}

type Bounds = { readonly now: bigint; readonly skew: number; readonly lifeMax: number }

/** Without this check, a token signed with a stolen key could be valid for years. */
export const isTimely = (issuedAt: number, expiresAt: number, bounds: Bounds): boolean =>
  issuedAt <= secondsOf(bounds.now) + bounds.skew && expiresAt - issuedAt <= bounds.lifeMax

export const secondsOf = (instant: bigint): number => Number(instant / 1_000_000n)

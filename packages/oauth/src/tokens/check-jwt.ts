import { attempt, limitsOf } from '@bursar/base'
import { Problem } from '@bursar/contract'
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
  type ResolvedKey,
} from 'jose'
import type { Refusal } from './refusal.ts'

const limits = limitsOf({
  /** Commas, colons and brackets of its header or claims. One with 200 groups has some 270. */
  jwtSeparatorsMax: 500,
})

// jose accepts blanks and padding in base64url; RFC 7515 section 2 does not.
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/

export type UncheckedJwt = { readonly kid: unknown; readonly iss: unknown; readonly sub: unknown }

/**
 * What a token says of itself, before its signature is checked. It may only select the key for that
 * check. Undefined for what is no JWT of at most `lengthMax` characters.
 */
export function readUncheckedJwt(token: string, lengthMax: number): UncheckedJwt | undefined {
  if (token.length > lengthMax || !compactForm.test(token)) return undefined
  const parts = token.split('.', 2).map((part) => Buffer.from(part, 'base64url'))
  if (parts.some((json) => separatorsOf(json) > limits.jwtSeparatorsMax)) return undefined
  const claims = attempt(() => decodeJwt(token))
  const kid: unknown = attempt(() => decodeProtectedHeader(token).kid)
  return claims && { kid, iss: claims.iss, sub: claims.sub }
}

/** Commas, colons and opening brackets of a text: at least as many as its JSON has values. */
function separatorsOf(json: Buffer): number {
  let count = 0
  for (const byte of json) {
    if (byte === COMMA || byte === COLON || byte === BRACKET || byte === BRACE) count += 1
  }
  return count
}

const [COMMA, COLON, BRACKET, BRACE] = Buffer.from(',:[{')

export type CheckedJwt = {
  readonly payload: JWTPayload
  readonly typ: string | undefined
  /** The key that the signature was made for. */
  readonly key: ResolvedKey['key']
}

/** Checks signature and claims of a JWT. Rethrows a Problem of the key look-up. */
export async function checkJwt(
  token: string,
  key: CryptoKey | JWTVerifyGetKey,
  now: bigint,
  options: JWTVerifyOptions,
): Promise<CheckedJwt | Refusal> {
  const getKey: JWTVerifyGetKey = typeof key === 'function' ? key : () => key
  const currentDate = new Date(Number(now / 1000n))
  try {
    const verified = await verify(token, getKey, { ...options, currentDate })
    const { payload, protectedHeader, key: found } = verified
    return { payload, typ: protectedHeader.typ, key: found }
  } catch (error) {
    if (error instanceof Problem) throw error
    return refusalOf(error)
  }
}

/** Tries every key that fits the header: several may have one id, or none. */
async function verify(
  token: string,
  getKey: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult & ResolvedKey> {
  try {
    return await jwtVerify(token, getKey, options)
  } catch (several) {
    if (!(several instanceof errors.JWKSMultipleMatchingKeys)) throw several
    for await (const key of several) {
      try {
        return { ...(await jwtVerify(token, key, options)), key }
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

/** jose checks the signature before the claims, so a forger learns nothing about claims. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed) {
    switch (error.claim) {
      case 'aud':
        return 'wrong audience'
      case 'typ':
        return 'wrong type'
      case 'nbf':
        return 'not yet valid'
      default:
        return 'wrong claims'
    }
  }
  if (error instanceof errors.JWKSNoMatchingKey) return 'unknown key'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'wrong algorithm'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'bad signature'
  // jose throws plain TypeErrors for keys that it cannot use, so every other error is a refusal.
  return 'malformed'
}

type Bounds = { readonly now: bigint; readonly skew: number; readonly lifeMax: number }

/** Without this check, a token signed with a stolen key could be valid for years. */
export function timeRefusal(
  issuedAt: number,
  expiresAt: number,
  bounds: Bounds,
): Refusal | undefined {
  if (issuedAt > secondsOf(bounds.now) + bounds.skew) return 'not yet valid'
  return expiresAt - issuedAt > bounds.lifeMax ? 'lives too long' : undefined
}

export const secondsOf = (instant: bigint): number => Number(instant / 1_000_000n)

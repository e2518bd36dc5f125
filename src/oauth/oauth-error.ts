import { Problem } from '../contract/problem.ts'
import type { OAuthAnswer, OAuthRequest } from './route.ts'

/** The error codes of RFC 6749 section 5.2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'temporarily_unavailable'

/** A refusal of the token, revocation or introspection endpoint, to be thrown. The description is fixed text. */
export function oauthError(
  status: 400 | 401 | 429,
  error: OAuthErrorCode,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): Problem {
  return new Problem(status, description, { meta: { error }, headers })
}

// RFC 6749 section 5.1 asks for both; Pragma is for caches of HTTP/1.0.
export const notStored = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const

export function jsonAnswer(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>>,
): OAuthAnswer {
  const all = { 'Content-Type': 'application/json', ...headers }
  return { status, headers: all, body: JSON.stringify(body) }
}

/**
 * Gives an endpoint its way of failing: every Problem becomes the JSON of RFC 6749 section 5.2, never stored.
 * Clients of this endpoint read that and not problem+json. What is no Problem is thrown on.
 */
export function withOAuthErrors(
  handle: (request: OAuthRequest) => Promise<OAuthAnswer>,
): (request: OAuthRequest) => Promise<OAuthAnswer> {
  return async (request) => {
    try {
      return await handle(request)
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem
      const error = problem.meta?.error ?? 'temporarily_unavailable'
      const body = { error, error_description: problem.detail }
      return jsonAnswer(problem.status, body, { ...notStored, ...problem.headers })
    }
  }
}

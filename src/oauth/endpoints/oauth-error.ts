import { Problem } from '../../contract/problem.ts'
import { type Answer, jsonAnswer } from '../../contract/request.ts'

/** The error codes of RFC 6749 section 5.2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'temporarily_unavailable'

/** An error of the token, revocation or introspection endpoint. Never put input into the text. */
export function oauthError(
  status: 400 | 401 | 429,
  error: OAuthErrorCode,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): Problem {
  return new Problem(status, description, { meta: { error }, headers })
}

// RFC 6749 section 5.1 requires both. HTTP/1.0 caches read Pragma.
export const notStored = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const

/** OAuth clients expect the JSON of RFC 6749 section 5.2 and not problem+json. */
export function renderOAuthError(problem: Problem): Answer {
  const error = problem.meta?.error ?? 'temporarily_unavailable'
  const body = { error, error_description: problem.detail }
  return jsonAnswer(body, { ...notStored, ...problem.headers }, problem.status)
}

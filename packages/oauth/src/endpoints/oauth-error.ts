import { type Answer, jsonAnswer, Problem, problem } from '@bursar/contract'

/** The error codes of RFC 6749 section 5.2. */
const errorCodes = [
  'invalid_request',
  'invalid_client',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_grant_type',
] as const

export type OAuthErrorCode = (typeof errorCodes)[number]

/** An error of the token, revocation or introspection endpoint. Never put input into the text. */
export function oauthError(
  error: OAuthErrorCode,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): Problem {
  const name = error === 'invalid_client' ? 'unauthenticated' : 'malformed'
  return problem(name, description, { meta: { error }, headers })
}

/** How a token request has failed, for the metrics. */
export function outcomeOf(failure: unknown): OAuthErrorCode | 'rate_limited' | 'failed' {
  if (!(failure instanceof Problem)) return 'failed'
  const code = errorCodes.find((each) => each === failure.meta?.error)
  return code ?? (failure.status === 429 ? 'rate_limited' : 'failed')
}

// RFC 6749 section 5.1 requires both. HTTP/1.0 caches read Pragma.
export const notStored = { 'cache-control': 'no-store', pragma: 'no-cache' } as const

/**
 * Renders the JSON of RFC 6749 section 5.2, which defines errors of status 400 and 401 alone. Any
 * other failure, such as 429 or 503, is problem+json as everywhere: undefined.
 */
export function renderOAuthError(problem: Problem): Answer | undefined {
  const { meta, detail, headers, status } = problem
  if (meta?.error === undefined) return undefined
  const body = { error: meta.error, error_description: detail }
  return jsonAnswer(body, { ...notStored, ...headers }, status)
}

import type { Caller, Principal } from '../../contract/principal.ts'
import { Problem } from '../../contract/problem.ts'
import type { Request } from '../../contract/request.ts'
import type { OperatorScope, Scope } from '../../contract/scopes.ts'

/**
 * `invalid` for a token that is malformed, expired, revoked or of a client that is disabled. One that was seen a moment
 * ago is answered at once.
 */
export type VerifyToken = Verify<Principal>

/** The same for whoever it is, also a client of the operator's own. */
export type IdentifyToken = Verify<Caller>

type Verify<C extends Caller> = (token: string) => C | 'invalid' | Promise<C | 'invalid'>

/** Who is asking, from the one Authorization header; 401 as RFC 6750 section 3 words it. */
export async function authenticate<C extends Caller>(
  request: Request,
  verify: Verify<C>,
): Promise<C> {
  const headers = authorizationHeaders(request.rawHeaders)
  if (headers.length > 1) throw invalidToken('the Authorization header must be sent once')
  if (carriesTokenInQuery(request.rawQuery)) {
    throw invalidToken(
      'the access token must be sent in the Authorization header, not in the query',
    )
  }
  const [header] = headers
  if (header === undefined) {
    throw new Problem(401, 'no authorization header set', {
      headers: { 'www-authenticate': 'Bearer' },
    })
  }
  const token = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(header)?.[1]
  if (token === undefined) {
    throw invalidToken("the Authorization header must read 'Bearer <access token>'")
  }
  const principal = await verify(token)
  if (principal === 'invalid') {
    throw invalidToken('the access token is invalid, expired or revoked; get a new one')
  }
  request.trace.client = principal.clientId
  return principal
}

/** The scope must be one of the token's; a part of its name or another case does not do. */
export function requireScope(principal: Caller, scope: Scope | OperatorScope): void {
  if (principal.scopes.has(scope)) return
  const held = [...principal.scopes].join(' ')
  throw new Problem(403, `insufficient scopes: found '${held}', required one of '[${scope}]'`, {
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })
}

// Node keeps the first of two Authorization headers and says nothing, so the raw list is read.
function authorizationHeaders(rawHeaders: readonly string[]): string[] {
  const found: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === 'authorization') found.push(rawHeaders[at + 1] ?? '')
  }
  return found
}

// Decoded first where anything is escaped: `access%5Ftoken` is the same parameter.
function carriesTokenInQuery(rawQuery: string): boolean {
  const isPossible = rawQuery.includes('access_token') || rawQuery.includes('%')
  return isPossible && new URLSearchParams(rawQuery).has('access_token')
}

function invalidToken(detail: string): Problem {
  return new Problem(401, detail, {
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  })
}

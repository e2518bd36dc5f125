import type { Caller } from '../../contract/principal.ts'
import { Problem } from '../../contract/problem.ts'
import { authorizationHeaders, type Request } from '../../contract/request.ts'
import type { OperatorScope, Scope } from '../../contract/scopes.ts'

/**
 * Finds the caller of a token, or `invalid` where the token is malformed, expired or revoked, or
 * its client disabled. A cached token is answered without a promise.
 */
export type Verify<C extends Caller> = (token: string) => C | 'invalid' | Promise<C | 'invalid'>

/** Finds the caller from the one Authorization header. Throws the 401 of RFC 6750 section 3. */
export async function authenticate<C extends Caller>(
  request: Request,
  verify: Verify<C>,
): Promise<C> {
  const headers = authorizationHeaders(request)
  if (headers.length > 1) throw invalidToken('the Authorization header must be sent once')
  if (hasTokenInQuery(request.rawQuery)) {
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
  const caller = await verify(token)
  if (caller === 'invalid') {
    throw invalidToken('the access token is invalid, expired or revoked; get a new one')
  }
  request.trace.client = caller.clientId
  return caller
}

/** Throws what the pipeline would throw before it reads a body. */
export async function admit(
  { scope }: { readonly scope: Scope | OperatorScope },
  request: Request,
  verify: Verify<Caller>,
): Promise<void> {
  requireScope(await authenticate(request, verify), scope)
}

/** Throws a 403 unless the token has this very scope. */
export function requireScope(caller: Caller, scope: Scope | OperatorScope): void {
  if (caller.scopes.has(scope)) return
  const held = [...caller.scopes].join(' ')
  throw new Problem(403, `insufficient scopes: found '${held}', required one of '[${scope}]'`, {
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })
}

/** A query with escapes is decoded first: `access%5Ftoken` is the same parameter. */
function hasTokenInQuery(rawQuery: string): boolean {
  const isPossible = rawQuery.includes('access_token') || rawQuery.includes('%')
  return isPossible && new URLSearchParams(rawQuery).has('access_token')
}

function invalidToken(detail: string): Problem {
  return new Problem(401, detail, {
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  })
}

import {
  authorizationHeaders,
  type Caller,
  contractLimits,
  type Operation,
  type OperatorPrincipal,
  type Problem,
  problem,
  queryNames,
  type Request,
  type Trace,
} from '@bursar/contract'
import { tokenDigest } from '@bursar/oauth'

/**
 * Finds the caller of a token, or says in a word why it is refused: `expired` or another cause. A
 * cached token is answered without a promise.
 */
export type CheckToken<C extends Caller> = (
  token: string,
  digest: string,
) => C | string | Promise<C | string>

type SentToken = { readonly header: string; readonly token: string; readonly digest: string }

/**
 * The last header of each connection whose token was valid, since a client sends one token many
 * times. It spares the parsing and the digest. The token is checked for each request.
 */
const lastSent = new WeakMap<Request['connection'], SentToken>()

/**
 * Finds the caller from the one Authorization header, at once if its token is cached. Throws the
 * 401 of RFC 6750 section 3.
 */
export function authenticate<C extends Caller>(
  request: Request,
  check: CheckToken<C>,
): C | Promise<C> {
  const header = headerOf(request)
  const last = lastSent.get(request.connection)
  const sent = last?.header === header ? last : readHeader(header, request.trace)
  const accept = (caller: C | string) => {
    const admitted = admit(caller, request.trace)
    if (sent !== last) lastSent.set(request.connection, sent)
    return admitted
  }
  const found = check(sent.token, sent.digest)
  return found instanceof Promise ? found.then(accept) : accept(found)
}

function headerOf(request: Request): string {
  const headers = authorizationHeaders(request)
  if (headers.length > 1) throw invalidToken('the Authorization header must be sent once')
  if (hasTokenInQuery(request.rawQuery)) {
    throw invalidToken(
      'the access token must be sent in the Authorization header, not in the query',
    )
  }
  const [header] = headers
  if (header === undefined) {
    throw problem('unauthenticated', 'no authorization header set', {
      headers: { 'www-authenticate': 'Bearer' },
    })
  }
  return header
}

function readHeader(header: string, trace: Trace): SentToken {
  // The scheme and blanks come before the token.
  if (header.length > contractLimits.tokenLengthMax + 100) {
    trace.refusal = 'malformed'
    throw invalidToken(notValid)
  }
  const token = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(header)?.[1]
  if (token === undefined) {
    throw invalidToken("the Authorization header must read 'Bearer <access token>'")
  }
  return { header, token, digest: tokenDigest(token) }
}

function admit<C extends Caller>(caller: C | string, trace: Trace): C {
  if (typeof caller === 'string') {
    trace.refusal = caller
    throw caller === 'expired' ? expiredToken() : invalidToken(notValid)
  }
  trace.client = caller.clientId
  if (caller.tenant !== null) trace.customer = caller.tenant
  else if (caller.person !== undefined) trace.person = caller.person
  return caller
}

export const expiredToken = (): Problem =>
  invalidToken('the access token has expired; get a new one', 'the access token has expired')

/** Returns the caller if its token has this very scope, or if none is required. Else a 403. */
export function requireScope<C extends Caller>(caller: C, scope: Operation['scope']): C {
  if (scope === null || scope === undefined || caller.scopes.has(scope)) return caller
  const held = [...caller.scopes].join(' ')
  throw problem('forbidden', `insufficient scopes: found '${held}', required one of '[${scope}]'`, {
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })
}

/** The same for a client of the operator, or a person. */
export function requireOperator(caller: Caller, scope: Operation['scope']): OperatorPrincipal {
  const permitted = requireScope(caller, scope)
  if (permitted.tenant === null) return permitted
  throw problem('forbidden', 'the client belongs to a customer; only the operator may call this', {
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' },
  })
}

export const revokedToken = (): Problem => invalidToken(notValid)

const notValid = 'the access token is invalid or revoked; get a new one'
const hasTokenInQuery = queryNames(['access_token'])

function invalidToken(detail: string, description?: string): Problem {
  const described = description === undefined ? '' : `, error_description="${description}"`
  return problem('unauthenticated', detail, {
    headers: { 'www-authenticate': `Bearer error="invalid_token"${described}` },
  })
}

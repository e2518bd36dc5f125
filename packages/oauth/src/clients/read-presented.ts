import { attempt, limitsOf, Secret } from '@bursar/base'
import { authorizationHeaders, contractLimits, type Request } from '@bursar/contract'
import { oauthError } from '../endpoints/oauth-error.ts'
import type { Form } from '../endpoints/read-form.ts'
import { readUncheckedJwt } from '../tokens/check-jwt.ts'

const limits = limitsOf({
  /** An assertion with a signature of RSA-4096 has about 1,200 characters. */
  assertionLengthMax: 4096,
})

/** The credentials of a request, not yet checked. */
export type Presented =
  | { readonly by: 'basic' | 'post'; readonly clientId: string; readonly secret: Secret }
  | { readonly by: 'assertion'; readonly clientId: string; readonly assertion: Secret }

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

export const basicChallenge = { 'www-authenticate': 'Basic realm="bursar", charset="UTF-8"' }

/** Reads the client authentication of a request (RFC 6749 section 2.3, RFC 7523 section 2.2). */
export function readPresented(request: Request, form: Form): Presented {
  const [header, ...others] = authorizationHeaders(request)
  if (others.length > 0) {
    throw oauthError('invalid_request', 'there are two Authorization headers')
  }
  const secret = form.get('client_secret')
  const assertion = form.get('client_assertion')
  const methods = [header, secret, assertion].filter((method) => method !== undefined)
  if (methods.length > 1) {
    throw oauthError('invalid_request', 'use exactly one method of client authentication')
  }
  const clientId = form.get('client_id')
  if (header !== undefined) return readBasic(header, clientId)
  if (assertion !== undefined) {
    if (form.get('client_assertion_type') !== assertionType) {
      throw oauthError('invalid_request', `client_assertion_type must be ${assertionType}`)
    }
    return readAssertion(new Secret(assertion), clientId)
  }
  if (secret === undefined || clientId === undefined) {
    throw oauthError('invalid_client', 'no client authentication was sent')
  }
  return { by: 'post', clientId, secret: new Secret(secret) }
}

const badHeader = () =>
  oauthError('invalid_client', 'the Authorization header must be Basic', basicChallenge)

function readBasic(header: string, bodyClientId: string | undefined): Presented {
  if (header.length > contractLimits.tokenLengthMax) throw badHeader()
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1]
  if (encoded === undefined) throw badHeader()
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) throw badHeader()
  const clientId = decodePart(text.slice(0, colon))
  const secret = decodePart(text.slice(colon + 1))
  if (bodyClientId !== undefined && bodyClientId !== clientId) {
    const detail = 'client_id differs from the id in the Authorization header'
    throw oauthError('invalid_request', detail)
  }
  return { by: 'basic', clientId, secret: new Secret(secret) }
}

/** The unchecked subject only selects the keys that the assertion is checked with. */
function readAssertion(assertion: Secret, bodyClientId: string | undefined): Presented {
  const clientId = subjectOf(assertion)
  // RFC 7521 section 4.2: client_id is optional, but must equal the subject.
  if (bodyClientId !== undefined && bodyClientId !== clientId) {
    throw oauthError('invalid_request', 'client_id differs from the subject of the assertion')
  }
  return { by: 'assertion', clientId, assertion }
}

function subjectOf(assertion: Secret): string {
  const claims = readUncheckedJwt(assertion.reveal(), limits.assertionLengthMax)
  return typeof claims?.sub === 'string' ? claims.sub : ''
}

/** RFC 6749 section 2.3.1: the client form-encodes both parts before it joins them. */
function decodePart(part: string): string {
  const decoded = attempt(() => decodeURIComponent(part.replaceAll('+', ' ')))
  if (decoded === undefined) throw badHeader()
  return decoded
}

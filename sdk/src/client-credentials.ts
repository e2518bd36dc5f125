import type { Answer, Send } from './calls.ts'
import { openAssertions, type PrivateKey } from './client-assertion.ts'
import type { AccessToken } from './tokens.ts'

/** For programs that can keep a secret or a private key. */
export type ClientCredentials = {
  readonly clientId: string
  /** All scopes of the client by default. */
  readonly scopes?: readonly string[]
  /** `/oauth2/token` of the API by default. */
  readonly tokenUrl?: string
} & (ClientSecret | ClientKey)

/** `client_secret_basic`. */
export type ClientSecret = { readonly clientSecret: string; readonly privateKey?: never }

/** `private_key_jwt`: the server knows the public key, and no secret is sent. */
export type ClientKey = {
  readonly privateKey: PrivateKey
  /** `kid` of the key, where the server has several. That of a JSON Web Key by default. */
  readonly keyId?: string
  /** The issuer, for which assertions are made; `baseUrl` by default. */
  readonly audience?: string
  readonly clientSecret?: never
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** The request of the client credentials grant. */
export function tokenRequest(credentials: ClientCredentials, baseUrl: string): Send<AccessToken> {
  const { scopes, tokenUrl = `${baseUrl}/oauth2/token` } = credentials
  const url = new URL(tokenUrl)
  const authenticate = authenticationOf(credentials, baseUrl)
  const body = { grant_type: 'client_credentials', ...(scopes && { scope: scopes.join(' ') }) }
  return async (fetch) => {
    const { headers = {}, form = {} } = await authenticate()
    const parameters = new URLSearchParams({ ...body, ...form })
    return answerOf(await fetch(url, { method: 'POST', headers, body: parameters }))
  }
}

type Authentication = {
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
}

function authenticationOf(
  credentials: ClientCredentials,
  baseUrl: string,
): () => Promise<Authentication> {
  const { clientId, clientSecret, privateKey } = credentials
  // In JavaScript, a variable of the environment that is not set is passed easily.
  if (!clientId || !(clientSecret || privateKey) || (clientSecret && privateKey)) {
    throw new TypeError('clientId and one of clientSecret and privateKey must be given')
  }
  if (credentials.privateKey === undefined) {
    const basic = btoa(`${formEncoded(clientId)}:${formEncoded(credentials.clientSecret)}`)
    return async () => ({ headers: { authorization: `Basic ${basic}` } })
  }
  const { keyId, audience = baseUrl } = credentials
  const assertion = openAssertions(clientId, credentials.privateKey, keyId, audience)
  return async () => ({
    form: {
      client_id: clientId,
      client_assertion_type: assertionType,
      client_assertion: await assertion(),
    },
  })
}

/** RFC 6749 section 2.3.1 encodes both parts before Basic joins them. */
const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

async function answerOf(response: Response): Promise<Answer<AccessToken>> {
  const body = parsed(await response.text())
  return {
    response,
    isTokenEndpoint: true,
    ...(response.ok ? { data: isAccessToken(body) ? body : undefined } : { error: body }),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isAccessToken = (body: unknown): body is AccessToken =>
  typeof body === 'object' &&
  body !== null &&
  'access_token' in body &&
  typeof body.access_token === 'string'

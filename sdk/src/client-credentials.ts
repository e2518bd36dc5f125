import type { Content, Outgoing } from './calls.ts'
import { openAssertions, type PrivateKey } from './client-assertion.ts'
import { requirePlainUrl } from './plain-url.ts'

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
export function tokenRequest(credentials: ClientCredentials, baseUrl: string): Outgoing {
  const { scopes, tokenUrl = `${baseUrl}/oauth2/token` } = credentials
  const url = requirePlainUrl('tokenUrl', tokenUrl)
  const authenticate = authenticationOf(credentials, baseUrl)
  const grant = { grant_type: 'client_credentials', ...(scopes && { scope: scopes.join(' ') }) }
  const content = async (): Promise<Content> => {
    const { headers, form } = await authenticate()
    return {
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams({ ...grant, ...form }).toString(),
    }
  }
  return { method: 'POST', url, content, isTokenEndpoint: true }
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

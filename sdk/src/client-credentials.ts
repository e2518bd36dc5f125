import type { Send } from './calls.ts'
import { errorOf } from './errors.ts'
import type { AccessToken } from './tokens.ts'

/** For programs that can keep a secret. */
export type ClientCredentials = {
  readonly clientId: string
  readonly clientSecret: string
  /** All scopes of the client by default. */
  readonly scopes?: readonly string[]
  /** `/oauth2/token` of the API by default. */
  readonly tokenUrl?: string
}

/** The request of the client credentials grant, with `client_secret_basic`. */
export function tokenRequest(credentials: ClientCredentials, baseUrl: string): Send<AccessToken> {
  const { clientId, clientSecret, scopes, tokenUrl = `${baseUrl}/oauth2/token` } = credentials
  // In JavaScript, a variable of the environment that is not set is passed easily.
  if (!clientId || !clientSecret) throw new TypeError('clientId and clientSecret must be given')
  const url = new URL(tokenUrl)
  const authorization = `Basic ${btoa(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`)}`
  return async (fetch) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        ...(scopes !== undefined && { scope: scopes.join(' ') }),
      }),
    })
    const body = parsed(await response.text())
    if (!response.ok) throw errorOf(response, body, true)
    return { response, data: isAccessToken(body) ? body : undefined }
  }
}

/** RFC 6749 section 2.3.1 encodes both parts before Basic joins them. */
const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

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

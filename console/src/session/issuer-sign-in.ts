import * as oauth from 'oauth4webapi'
import { fetchOrLose, isOffline } from '../api-problem.ts'
import type { IssuerSettings } from '../page-settings.ts'
import { type Session, SignInEnded } from './console-session.ts'
import { describeStaff } from './describe-staff.ts'
import { type HeldToken, openTokens } from './open-tokens.ts'

/** What must outlive the way to the issuer and back. It is of this tab alone. */
type Pending = {
  readonly issuer: string
  readonly verifier: string
  readonly state: string
  /** The screen that was open. */
  readonly fragment: string
}

const PENDING = 'bursar.sign-in'
const SIGNED_OUT = 'bursar.signed-out'

/** Makes the next sign-in of this tab ask who it is, though the issuer may still know. */
export const noteSignOut = (): void => sessionStorage.setItem(SIGNED_OUT, 'true')
const hasSignedOut = (): boolean => sessionStorage.getItem(SIGNED_OUT) !== null

const redirectUri = new URL('.', location.href.replace(/[?#].*$/, '')).href

/** The URL of an issuer on this machine may have the scheme http, as the server allows. */
const optionsOf = (issuer: string) => ({
  [oauth.allowInsecureRequests]: new URL(issuer).protocol === 'http:',
  [oauth.customFetch]: fetchOrLose,
})

async function discover(issuer: string): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer)
  const response = await oauth.discoveryRequest(url, optionsOf(issuer))
  return await oauth.processDiscoveryResponse(url, response)
}

/** Leaves for the issuer: authorization code with PKCE (RFC 7636). */
export async function startSignIn({
  issuer,
  clientId,
  scope,
  parameters,
}: IssuerSettings): Promise<void> {
  const server = await discover(issuer)
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const pending: Pending = { issuer, verifier, state, fragment: location.hash }
  sessionStorage.setItem(PENDING, JSON.stringify(pending))
  const url = new URL(server.authorization_endpoint ?? '')
  const query = {
    ...parameters,
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    // Another person may sign in after a sign-out.
    ...(hasSignedOut() && { prompt: 'login' }),
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  location.assign(url)
}

/** Whether the issuer has sent the person back to this page. */
export function isReturn(): boolean {
  const query = new URLSearchParams(location.search)
  return query.has('code') || query.has('error')
}

/** Redeems the code that the issuer has sent back. Undefined where this page is no return. */
export async function finishSignIn(
  issuers: readonly IssuerSettings[],
): Promise<Session | undefined> {
  if (!isReturn()) return undefined
  const query = new URLSearchParams(location.search)
  const stored = sessionStorage.getItem(PENDING)
  sessionStorage.removeItem(PENDING)
  const pending: Pending | null = JSON.parse(stored ?? 'null')
  // The code leaves the address bar and the history, even if this tab did not request it.
  history.replaceState(null, '', redirectUri + (pending?.fragment ?? ''))
  if (pending === null) return undefined
  const settings = issuers.find(({ issuer }) => issuer === pending.issuer)
  if (settings === undefined) return undefined
  const server = await discover(pending.issuer)
  const client = { client_id: settings.clientId }
  const returned = new URL(`${redirectUri}?${query}`)
  const valid = oauth.validateAuthResponse(server, client, returned, pending.state)
  const { resource } = settings.parameters
  const response = await oauth.authorizationCodeGrantRequest(
    ...([server, client, oauth.None(), valid, redirectUri, pending.verifier] as const),
    { ...optionsOf(pending.issuer), ...(resource && { additionalParameters: { resource } }) },
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response)
  return await openSession(settings, server, tokens)
}

async function openSession(
  { issuer, clientId, parameters }: IssuerSettings,
  server: oauth.AuthorizationServer,
  first: oauth.TokenEndpointResponse,
): Promise<Session> {
  const client = { client_id: clientId }
  let refreshToken = first.refresh_token
  const renew = async () => {
    if (refreshToken === undefined) throw new SignInEnded('Your sign-in has ended.')
    const { resource } = parameters
    const response = await oauth.refreshTokenGrantRequest(
      ...([server, client, oauth.None(), refreshToken] as const),
      { ...optionsOf(issuer), ...(resource && { additionalParameters: { resource } }) },
    )
    const tokens = await oauth.processRefreshTokenResponse(server, client, response)
    refreshToken = tokens.refresh_token ?? refreshToken
    return held(tokens)
  }
  const { end, token } = openTokens(held(first), () => renew().catch(endOf))
  const caller = await describeStaff(first.access_token)
  const claims = oauth.getValidatedIdTokenClaims(first)
  const subject = String(claims?.sub ?? subjectOf(first.access_token))
  return {
    ...caller,
    isStaff: true,
    isPerson: true,
    key: `${issuer} ${subject}`,
    token,
    name: String(claims?.name ?? claims?.email ?? subject),
    end: () => {
      end()
      if (refreshToken === undefined || server.revocation_endpoint === undefined) return
      // Nobody waits for it: the token is forgotten here anyway.
      const args = [server, client, oauth.None(), refreshToken] as const
      void oauth.revocationRequest(...args, optionsOf(issuer)).catch(() => {})
    },
  }
}

/** A refusal ends the sign-in. Without a connection it goes on, and the request itself fails. */
function endOf(error: unknown): never {
  if (isOffline(error)) throw error
  throw new SignInEnded('Your sign-in has ended. Sign in again.')
}

const held = ({ access_token, expires_in = 300 }: oauth.TokenEndpointResponse): HeldToken => ({
  text: access_token,
  renewAt: Date.now() + (expires_in - 30) * 1000,
})

/** The subject of an access token. The server has checked it; the page only shows it. */
function subjectOf(token: string): string {
  const [, payload = ''] = token.split('.')
  return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))).sub
}

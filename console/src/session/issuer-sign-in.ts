import * as oauth from 'oauth4webapi'
import type { IssuerSettings } from '../settings.ts'
import { describeStaff } from './describe-staff.ts'
import { type Session, SignInEnded } from './session.ts'

/** What must outlive the way to the issuer and back. It is of this tab alone. */
type Pending = {
  readonly issuer: string
  readonly verifier: string
  readonly state: string
  /** The screen that was open. */
  readonly fragment: string
}

const PENDING = 'bursar.sign-in'
const redirectUri = new URL('.', location.href.replace(/[?#].*$/, '')).href

/** The URL of an issuer on this machine may have the scheme http, as the server allows. */
const optionsOf = (issuer: string) => ({
  [oauth.allowInsecureRequests]: new URL(issuer).protocol === 'http:',
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
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  location.assign(url)
}

/** Redeems the code that the issuer has sent back. Undefined where this page is no return. */
export async function finishSignIn(
  issuers: readonly IssuerSettings[],
): Promise<Session | undefined> {
  const stored = sessionStorage.getItem(PENDING)
  const query = new URLSearchParams(location.search)
  if (stored === null || !(query.has('code') || query.has('error'))) return undefined
  sessionStorage.removeItem(PENDING)
  const pending: Pending = JSON.parse(stored)
  // The code leaves the address bar and the history.
  history.replaceState(null, '', redirectUri + pending.fragment)
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
  let [token, renewAt, refreshToken] = held(first)
  const renew = async () => {
    if (refreshToken === undefined) throw new SignInEnded('Your sign-in has ended.')
    const { resource } = parameters
    const response = await oauth.refreshTokenGrantRequest(
      ...([server, client, oauth.None(), refreshToken] as const),
      { ...optionsOf(issuer), ...(resource && { additionalParameters: { resource } }) },
    )
    const tokens = await oauth.processRefreshTokenResponse(server, client, response)
    const last = refreshToken
    ;[token, renewAt, refreshToken = last] = held(tokens)
  }
  const caller = await describeStaff(token)
  const claims = oauth.getValidatedIdTokenClaims(first)
  const subject = String(claims?.sub ?? subjectOf(token))
  return {
    ...caller,
    ...{ isStaff: true, isPerson: true, key: `${issuer} ${subject}` },
    name: String(claims?.name ?? claims?.email ?? subject),
    token: async () => {
      if (Date.now() > renewAt) await renew().catch(endOf)
      return token
    },
  }
}

/** A refusal ends the sign-in. Without a connection it goes on, and the request itself fails. */
function endOf(error: unknown): void {
  if (error instanceof TypeError) return
  throw new SignInEnded('Your sign-in has ended. Sign in again.')
}

const held = ({ access_token, expires_in = 300, refresh_token }: oauth.TokenEndpointResponse) =>
  [access_token, Date.now() + (expires_in - 30) * 1000, refresh_token] as const

/** The subject of an access token. The server has verified it; the page only shows it. */
function subjectOf(token: string): string {
  const [, payload = ''] = token.split('.')
  return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))).sub
}

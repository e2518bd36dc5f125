import type { IncomingHttpHeaders } from 'node:http'

/** A request as the OAuth endpoints need it, whatever server it came through. */
export type OAuthRequest = {
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** What follows the question mark, undecoded; empty where there is none. */
  readonly rawQuery: string
  readonly headers: IncomingHttpHeaders
  /** Name, value, name, value …, as they came: the only place where a repeated header shows. */
  readonly rawHeaders: readonly string[]
  /** At most 16 KiB; whoever mounts the routes refuses more. */
  readonly body: Buffer
  /** The address of the caller, which failed attempts are counted by. */
  readonly address: string
}

export type OAuthAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export type OAuthRoute = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  handle(request: OAuthRequest): Promise<OAuthAnswer>
}

export const tokenPath = '/oauth2/token'
export const revocationPath = '/oauth2/revoke'
export const introspectionPath = '/oauth2/introspect'
export const keySetPath = '/.well-known/jwks.json'
export const metadataPath = '/.well-known/oauth-authorization-server'

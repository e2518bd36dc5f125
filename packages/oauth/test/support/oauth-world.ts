import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openVault, systemRandom, type TrustedIssuer } from '@bursar/base'
import type { RateLimit, Route } from '@bursar/contract'
import type { CredentialStore } from '@bursar/records'
import { type Logger as PinoLogger, pino } from 'pino'
import { stoppedJobs } from '../../../../test/support/stopped-jobs.ts'
import { newStorePlace } from '../../../../test/support/store-place.ts'
import { staticDocument } from '../../../server/src/documents/static-document.ts'
import { type ClientDeps, createSampleClient } from '../../src/clients/clients.ts'
import type { GuessLimiter } from '../../src/clients/guess-limiter.ts'
import { openOAuth } from '../../src/open-oauth.ts'
import { listen } from './server.ts'
import { temporaryFolder } from './temporary.ts'
import { setClock } from './time.ts'

export type OAuthWorldOptions = {
  /** The system clock, for libraries that read it themselves. */
  readonly clock?: () => bigint
  /** The URL of its server by default. */
  readonly issuer?: string
  readonly issuers?: readonly TrustedIssuer[]
  readonly log?: PinoLogger
  readonly explains?: boolean
  readonly rateLimit?: RateLimit
  readonly limiter?: GuessLimiter
  readonly through?: (store: CredentialStore) => CredentialStore
}

export const acme = { id: 'client_acme', secret: 'acme_secret_1', customerId: 'acme' }
export const acmeScopes = ['transfer:read_fiat_account', 'statements:read_statement']
export const acmeBasic = `Basic ${Buffer.from(`${acme.id}:${acme.secret}`).toString('base64')}`

/** An authorization server with two sample clients, and a command on the same store. */
export async function oauthWorld(context: TestContext, options: OAuthWorldOptions = {}) {
  const folder = temporaryFolder(context)
  const place = await newStorePlace(context)
  const keyFile = join(folder, 'bursar.master-key')
  const set = setClock()
  const clock = options.clock ?? set
  const openKeys = (store: CredentialStore) => {
    const masters = { masterKey: undefined, previousMasterKey: undefined, keyFile }
    return openVault({ store, ...masters, clock, random: systemRandom })
  }
  const outside = await place.openCredentials()
  const keyring = await openKeys(outside)
  const command: ClientDeps = { store: outside, keyring, clock, random: systemRandom }
  await createSampleClient(command, { ...acme, name: 'Acme', scopes: acmeScopes })
  const globex = { id: 'client_globex', secret: 'globex_secret_1', customerId: 'globex' }
  await createSampleClient(command, { ...globex, name: 'Globex', scopes: acmeScopes })

  const opened = await place.openCredentials('server')
  const inside = { ...opened, onChange: () => () => {} }
  const store = options.through?.(inside) ?? inside
  let routes: readonly Route[] = []
  const { url, stop } = await listen(() => routes)
  const trustedIssuers = options.issuers ?? []
  const oauth = await openOAuth({
    store,
    keyring: await openKeys(store),
    config: { tokenLifeSeconds: 900, credentialsAgeSecondsMax: 60, trustedIssuers },
    issuer: () => options.issuer ?? url,
    clock,
    log: options.log ?? pino({ level: 'silent' }),
    rateLimit: options.rateLimit ?? (async () => {}),
    background: stoppedJobs(),
    explains: options.explains ?? false,
    ...(options.limiter && { limiter: options.limiter }),
  })
  routes = [...oauth.routes(), ...oauth.documents.map(staticDocument)]
  context.after(async () => {
    await stop()
    oauth.close()
  })
  return { url, oauth, command, clock: set, folder, place, keyFile, ...callers(url) }
}

type Call = { readonly headers?: Record<string, string>; readonly query?: string }
export type Answered = {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test compares the whole body.
  readonly body: any
}

function callers(url: string) {
  const send = async (path: string, init: RequestInit): Promise<Answered> => {
    const answer = await fetch(url + path, init)
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json')
    return {
      status: answer.status,
      headers: answer.headers,
      body: isJson === true ? JSON.parse(text) : text,
    }
  }
  const post = (
    path: string,
    form: Record<string, string> | string,
    { headers = {}, query = '' }: Call = {},
  ) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = typeof form === 'string' ? form : new URLSearchParams(form).toString()
    return send(path + query, { method: 'POST', headers: { ...type, ...headers }, body })
  }
  const grant = { grant_type: 'client_credentials' }
  const credentials = { client_id: acme.id, client_secret: acme.secret }
  const token = (form: Record<string, string> = {}, call: Call = {}) =>
    post('/oauth2/token', { ...grant, ...credentials, ...form }, call)
  return { send, post, token }
}

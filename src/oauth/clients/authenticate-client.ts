import type { Request } from '../../contract/request.ts'
import type { Logger } from '../../platform/log.ts'
import type { Client, ClientWithSecrets } from '../../store/credentials.ts'
import type { Keyring } from '../../vault/keyring.ts'
import { oauthError } from '../endpoints/oauth-error.ts'
import type { Form } from '../endpoints/read-form.ts'
import { type AssertionSources, isGoodAssertion } from './client-assertion.ts'
import { basicChallenge, type Presented, readPresented } from './client-credentials.ts'
import { findSecret } from './client-secrets.ts'
import type { GuessLimiter } from './guess-limiter.ts'
import type { UseRecorder } from './use-recorder.ts'

export type AuthenticationSources = AssertionSources & {
  readonly keyring: Keyring
  readonly limiter: GuessLimiter
  readonly uses: UseRecorder
  readonly log: Logger
}

/**
 * The client that sends a request to the token, revocation or introspection endpoint. Throws `invalid_client` (401), the same
 * and after the same work for an unknown client and a wrong secret, and 429 to whoever has failed too often.
 */
export async function authenticateClient(
  request: Request,
  form: Form,
  sources: AuthenticationSources,
): Promise<Client> {
  const { limiter, log, store } = sources
  const presented = readPresented(request, form)
  const { clientId } = presented
  const { address } = request
  const wait = await limiter.waitSeconds(address, clientId)
  if (wait > 0) {
    log.warn({ address, outcome: 'slowed' }, 'client authentication')
    throw tooManyFailures(wait)
  }
  const found = await store.findClient(clientId)
  const client = await provenClient(found, presented, sources)
  if (client !== undefined) return client
  await limiter.countFailure(address, clientId)
  // Only a name that exists is logged: in place of an unknown one people paste their secrets.
  log.warn({ client: found?.id, address, outcome: 'refused' }, 'client authentication')
  throw oauthError(
    401,
    'invalid_client',
    'client authentication failed',
    presented.by === 'basic' ? basicChallenge : {},
  )
}

/** The client, where what was presented is its own. Does not stop early because it is unknown or disabled. */
async function provenClient(
  found: ClientWithSecrets | undefined,
  presented: Presented,
  sources: AuthenticationSources,
): Promise<Client | undefined> {
  const client = found?.disabledAt === undefined ? found : undefined
  if (presented.by === 'assertion') {
    const { assertion } = presented
    if (client === undefined || !(await isGoodAssertion(client, assertion, sources))) return
    sources.uses.record(client, undefined)
    return client
  }
  const secret = findSecret(client, presented.secret, sources.keyring)
  if (client === undefined || secret === undefined) return
  sources.uses.record(client, secret.id)
  return client
}

function tooManyFailures(waitSeconds: number) {
  return oauthError(
    429,
    'temporarily_unavailable',
    'too many failed attempts from this address, wait before trying again',
    { 'Retry-After': String(waitSeconds) },
  )
}

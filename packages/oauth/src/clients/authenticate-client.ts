import type { Keyring, Logger, Secret } from '@bursar/base'
import { problem, type RateLimit, type Request } from '@bursar/contract'
import type { Client, ClientSecret, ClientWithSecrets } from '@bursar/records'
import { oauthError } from '../endpoints/oauth-error.ts'
import type { Form } from '../endpoints/read-form.ts'
import { type AssertionDeps, assertionFault } from './check-assertion.ts'
import { isMarkedWith, isSealed, markSealer, notSealed } from './client-seal.ts'
import { findSecret, hashSecret, isOldHash } from './client-secrets.ts'
import type { GuessLimiter } from './guess-limiter.ts'
import { basicChallenge, type Presented, readPresented } from './read-presented.ts'
import type { UseRecorder } from './use-recorder.ts'

export type AuthenticationDeps = AssertionDeps & {
  readonly keyring: Keyring
  readonly limiter: GuessLimiter
  readonly rateLimit: RateLimit
  readonly uses: UseRecorder
  readonly log: Logger
  /** Whether the answer says why an assertion is refused, as a sandbox's does. */
  readonly explains?: boolean
}

/** Throws `invalid_client` (401), or a 429 after too many failures from the sender's address. */
export async function authenticateClient(
  request: Request,
  form: Form,
  deps: AuthenticationDeps,
): Promise<Client> {
  const { limiter, log, store } = deps
  const { address } = request
  const presented = readPresented(request, form)
  const { clientId } = presented
  const admission = await limiter.admit(address, clientId)
  if (!admission.isAdmitted) {
    log.warn({ address, outcome: 'rate limited' }, 'client authentication')
    throw problem(
      'tooManyRequests',
      'too many failed attempts from this address; wait, then try again',
      {
        retryAfter: admission.waitSeconds,
      },
    )
  }
  // A store that cannot answer is no failure of the client.
  let outcome: 'succeeded' | 'failed' = 'succeeded'
  let found: ClientWithSecrets | undefined
  let why: string | undefined
  try {
    found = sealedOnly(await store.findClient(clientId), deps)
    if (typeof found?.customerId === 'string') request.trace.customer = found.customerId
    const client = await checkClient(found, presented, deps)
    if (typeof client === 'object') {
      await deps.rateLimit(`client ${client.id}`, request.trace)
      return client
    }
    outcome = 'failed'
    why = client
  } finally {
    admission.ended(outcome)
  }
  // An unknown client id is not logged: people paste secrets into that field.
  log.warn({ client: found?.id, address, outcome: 'refused', why }, 'client authentication')
  const headers = presented.by === 'basic' ? basicChallenge : {}
  const detail = 'client authentication failed'
  const explained = deps.explains === true && why !== undefined ? `${detail}: ${why}` : detail
  throw oauthError('invalid_client', explained, headers)
}

/** The client, if the program has stored it as it is. */
function sealedOnly(
  found: ClientWithSecrets | undefined,
  { keyring, log }: AuthenticationDeps,
): ClientWithSecrets | undefined {
  if (isSealed(found, keyring)) return found
  if (found !== undefined) log.error({ client: found.id }, notSealed)
  return undefined
}

/**
 * The client if its credentials are right, or why its assertion is refused. Secrets are compared
 * for an unknown client too.
 */
async function checkClient(
  found: ClientWithSecrets | undefined,
  presented: Presented,
  deps: AuthenticationDeps,
): Promise<Client | string | undefined> {
  const client = found?.disabledAt === undefined ? found : undefined
  if (presented.by === 'assertion') {
    if (client === undefined) return
    const fault = await assertionFault(client, presented.assertion, deps)
    if (fault !== undefined) return fault
    deps.uses.record(client, undefined)
    return client
  }
  const secret = findSecret(client, presented.secret, deps.keyring, deps.clock())
  if (client === undefined || secret === undefined) return
  deps.uses.record(client, secret.id)
  if (isOldHash(secret.hash, deps.keyring)) await hashAgain(client, secret, presented.secret, deps)
  return client
}

/** Only who presents a secret knows it, so its hash is renewed then. A failure refuses nobody. */
async function hashAgain(
  { id: clientId }: Client,
  { id: secretId, hash: before }: ClientSecret,
  presented: Secret,
  { store, keyring, log }: AuthenticationDeps,
): Promise<void> {
  const after = hashSecret(clientId, presented, keyring)
  try {
    await store.rehashSecret(
      clientId,
      { secretId, before, after },
      (client, secrets) => isMarkedWith(client, secrets, keyring),
      markSealer(keyring),
    )
  } catch (error) {
    log.warn({ err: error, client: clientId }, 'a secret cannot be hashed with the new key')
  }
}

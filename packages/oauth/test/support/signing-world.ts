import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openVault, systemRandom, type TrustedIssuer } from '@bursar/base'
import type { Client, ClientMethod, CredentialStore } from '@bursar/records'
import { pino } from 'pino'
import { stoppedJobs } from '../../../../test/support/stopped-jobs.ts'
import { newStorePlace } from '../../../../test/support/store-place.ts'
import { type ClientDeps, createClient, createSampleClient } from '../../src/clients/clients.ts'
import { openUseRecorder } from '../../src/clients/use-recorder.ts'
import { openCredentialCache } from '../../src/tokens/credential-cache.ts'
import { openTrustedIssuers } from '../../src/tokens/external-token.ts'
import { issueToken } from '../../src/tokens/own-token.ts'
import { openTokenCheck } from '../../src/tokens/token-check.ts'
import { temporaryFolder } from './temporary.ts'
import { setClock } from './time.ts'

export const issuer = 'https://api.bursar.example'
export const log = pino({ level: 'silent' })

export type WorldOptions = {
  readonly issuers?: readonly TrustedIssuer[]
  /** Wraps the server's store, to make it fail. */
  readonly through?: (store: CredentialStore) => CredentialStore
}

/** Keys, clients and the check of tokens on a separate store. The test triggers each poll. */
export async function signingWorld(context: TestContext, options: WorldOptions = {}) {
  const folder = temporaryFolder(context)
  const place = await newStorePlace(context)
  const opened = await place.openCredentials('server')
  const direct = { ...opened, onChange: () => () => {} }
  const store = options.through?.(direct) ?? direct
  const clock = setClock()
  const openKeys = (to: CredentialStore) =>
    openVault({
      store: to,
      masterKey: undefined,
      previousMasterKey: undefined,
      keyFile: join(folder, 'bursar.master-key'),
      clock,
      random: systemRandom,
    })
  const keyring = await openKeys(store)
  const background = stoppedJobs()
  const cache = await openCredentialCache({
    store,
    keyring,
    clock,
    log,
    background,
    ageSecondsMax: 60,
  })
  const issuers = openTrustedIssuers({ issuers: options.issuers ?? [], clock, log, background })
  const uses = openUseRecorder({ store, clock, log })
  const tokenCheck = openTokenCheck({ cache, issuers, issuer: () => issuer, clock, uses })

  // Like a command in another process: its own connection and keyring on the same store.
  const outside = await place.openCredentials()
  const command: ClientDeps = {
    store: outside,
    keyring: await openKeys(outside),
    clock,
    random: systemRandom,
  }
  context.after(() => {
    cache.close()
    issuers.close()
  })
  const sample = async (
    id: string,
    customerId = 'acme',
    scopes = ['transfer:read_fiat_account'],
  ) => {
    await createSampleClient(command, { id, secret: `${id}_secret`, customerId, name: id, scopes })
    await cache.refresh()
    return clientOf(id)
  }
  const clientOf = (id: string): Client => {
    const client = cache.current().clients.get(id)
    if (client === undefined) throw new Error(`No client ${id} in this world.`)
    return client
  }
  const tokenFor = (client: Client) => {
    const key = cache.current().signingKeys.get(keyring.current('token-signing').id)
    if (key === undefined) throw new Error('This world has no key to sign with.')
    const { scopes } = client
    return issueToken({ issuer, client, scopes, lifeSeconds: 900, key, now: clock() })
  }
  const addExternal = async (method: ClientMethod, scopes?: readonly string[]) => {
    const made = await createClient(command, { customerId: 'acme', name: 'ext', scopes, method })
    if ('refused' in made) throw new Error(made.refused)
    return made.client
  }
  return {
    clock,
    store,
    keyring,
    cache,
    issuers,
    tokenCheck,
    command,
    sample,
    tokenFor,
    addExternal,
  }
}

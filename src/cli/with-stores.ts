import type { ClientDeps } from '../oauth/clients/clients.ts'
import { systemClock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import { openLog } from '../platform/log.ts'
import { createStore, openOperatorStores, type StoreDeps, type Stores } from '../stores.ts'
import { systemRandom } from '../vault/random.ts'
import { type CommonOptions, configOf } from './options.ts'

/** For commands that create an embedded store where there is none at all. */
export type CreateOption = { readonly create?: boolean }
export const noCreateOption = [
  '--no-create',
  'Refuse a missing store. A scheduled run must not fill a folder whose volume is not mounted.',
] as const

/** Opens the stores as the operator, who sees every customer, and closes them after the work. */
export async function withStores<T>(
  options: CommonOptions & CreateOption,
  work: (stores: Stores, config: Config) => Promise<T>,
): Promise<T> {
  const config = operatorConfigOf(options)
  const sources = { config, clock: systemClock, log: openLog('warn') }
  if (options.create === true && config.operatorDatabaseUrl === undefined) {
    await createStore(sources)
  }
  return withOpened(sources, async (stores) => {
    const result = await work(stores, config)
    stores.confirmIntact()
    return result
  })
}

/** The same for stores that are not those of the options. */
export async function withOpened<T>(
  sources: StoreDeps,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const stores = await openOperatorStores(sources)
  try {
    return await work(stores)
  } finally {
    await stores.close()
  }
}

/** `--database` names the store, even if the environment sets the operator's URL. */
export function operatorConfigOf(options: CommonOptions): Config {
  const config = configOf(options)
  return options.database === undefined ? config : { ...config, operatorDatabaseUrl: undefined }
}

/** The clients and keys of a store, for the commands that change them. */
export type CredentialAccess = ClientDeps & { readonly trustedIssuers: readonly string[] }

export type WithCredentials = <T>(
  options: CommonOptions & CreateOption,
  work: (access: CredentialAccess) => Promise<T>,
) => Promise<T>

export const withCredentials: WithCredentials = (options, work) =>
  withStores(options, async (stores, config) => {
    const store = stores.credentials()
    const keyring = await stores.keyring(store)
    const trustedIssuers = config.trustedIssuers.map(({ issuer }) => issuer)
    return work({ store, keyring, clock: systemClock, random: systemRandom, trustedIssuers })
  })

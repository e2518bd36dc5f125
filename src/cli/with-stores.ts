import type { ClientDeps } from '../oauth/clients/clients.ts'
import { systemClock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import { openLog } from '../platform/log.ts'
import { openOperatorStores, requireStore, type Stores } from '../stores.ts'
import { systemRandom } from '../vault/random.ts'
import { type CommonOptions, configOf } from './options.ts'

/** Opens the stores as the operator, who sees every customer, and closes them after the work. */
export async function withStores<T>(
  options: CommonOptions,
  work: (stores: Stores, config: Config) => Promise<T>,
  { mustExist = false } = {},
): Promise<T> {
  const config = operatorConfigOf(options)
  if (mustExist) requireStore(config)
  const stores = await openOperatorStores({ config, clock: systemClock, log: openLog('warn') })
  try {
    return await work(stores, config)
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

type Work<T> = (access: CredentialAccess) => Promise<T>
export type WithCredentials = <T>(
  options: CommonOptions,
  work: Work<T>,
  store?: { readonly mustExist: boolean },
) => Promise<T>

/** For commands that change or show what a store holds: a mistyped path must not make one. */
export const existing = { mustExist: true } as const

export const withCredentials: WithCredentials = (options, work, requirements) => {
  const withKeys = async (stores: Stores, config: Config) => {
    const store = stores.credentials()
    const keyring = await stores.keyring(store)
    const trustedIssuers = config.trustedIssuers.map(({ issuer }) => issuer)
    return work({ store, keyring, clock: systemClock, random: systemRandom, trustedIssuers })
  }
  return withStores(options, withKeys, requirements)
}

import {
  type Config,
  ConfigError,
  type Keyring,
  openLog,
  readPostgresUrl,
  systemRandom,
  systemTime,
} from '@bursar/base'
import type { ClientDeps } from '@bursar/oauth'
import type { Resealing } from '@bursar/records'
import { createStore, openOperatorStores, type StoreDeps, type Stores } from '@bursar/server/stores'
import type { Command } from 'commander'
import { type CommonOptions, configOf } from './options.ts'
import { auditing, type CommandAudit } from './processes/command-audit.ts'

/** For commands that create an embedded store where there is none at all. */
export type CreateOption = { readonly create?: boolean }
export const noCreateOption = [
  '--no-create',
  'Refuse a missing store. A scheduled run must not fill a folder whose volume is not mounted.',
] as const

/**
 * Opens the stores as the operator, who sees every customer, and closes them after the work. The
 * audit log has the command before its work begins, and how it has ended.
 */
export const withAudit = <T>(
  command: Command,
  options: CommonOptions & CreateOption,
  work: (opened: AuditedStores) => Promise<T>,
): Promise<T> =>
  withStores(options, async (stores, config) => {
    requireMasterKey(config)
    const keyring = await stores.keyring(stores.credentials())
    const audit = await stores.auditLog(keyring)
    return await auditing(audit, command, config, (audited) =>
      work({ stores, config, keyring, audited }),
    )
  })

export type AuditedStores = {
  readonly stores: Stores
  readonly config: Config
  readonly keyring: Keyring
  readonly audited: CommandAudit
}

/** An embedded store has its key in a file, if nowhere else. */
function requireMasterKey(config: Config): void {
  const { masterKey, keyCommand } = config
  const hasKey = masterKey !== undefined || keyCommand.length > 0
  const url = config.operatorDatabaseUrl ?? config.databaseUrl
  if (hasKey || readPostgresUrl(url) === undefined) return
  throw new ConfigError(
    'The audit log has every operator’s command, and BURSAR_MASTER_KEY opens the key that it is written with. Set it to the master key of this store.',
  )
}

/** The same for a command that changes nothing and shows no record. It has no entry. */
export async function withStores<T>(
  options: CommonOptions & CreateOption,
  work: (stores: Stores, config: Config) => Promise<T>,
): Promise<T> {
  const config = operatorConfigOf(options)
  const sources = { config, clock: systemTime.now, log: openLog('warn') }
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
export type CredentialAccess = ClientDeps & {
  readonly trustedIssuers: readonly string[]
  readonly audited: Pick<CommandAudit, 'note'>
  /** What is stored under the keys. */
  readonly resealing: () => Resealing
}

export type WithCredentials = <T>(
  command: Command,
  options: CommonOptions & CreateOption,
  work: (access: CredentialAccess) => Promise<T>,
) => Promise<T>

export const withCredentials: WithCredentials = (command, options, work) =>
  withAudit(command, options, ({ stores, config, keyring, audited }) => {
    const store = stores.credentials()
    const trustedIssuers = config.trustedIssuers.map(({ issuer }) => issuer)
    const secrets = { keyring, clock: systemTime.now, random: systemRandom }
    const resealing = () => stores.records().operator.resealing
    return work({ store, ...secrets, trustedIssuers, audited, resealing })
  })

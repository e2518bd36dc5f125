import { type Keyring, openVault, type PurposeKeyStore, readPostgresUrl } from '@bursar/base'
import {
  checkPostgres,
  compactPostgres,
  migratePostgres,
  openOperatorPostgres,
  openServicePostgres,
  poolerSettings,
  postgresChecks,
  withOwnedAudit,
} from '@bursar/postgres'
import { keySources, type StoreDeps } from '@bursar/records'
import type { StoreEngine } from './store-engine.ts'
import { withKeyring } from './with-keyring.ts'

/**
 * PostgreSQL. Servers and commands open it with their roles; migrate, check, compact and the audit
 * log need the URL of the database's owner, or of its auditor.
 */
export function postgresEngine(sources: StoreDeps): StoreEngine {
  const { config, clock } = sources
  const addresses = readPostgresUrl(config.databaseUrl) ?? []
  const openOperator = () =>
    withKeyring(sources, (sealed) =>
      openOperatorPostgres(sealed, config.operatorDatabaseUrl ?? config.databaseUrl),
    )
  const readKeys = (store: PurposeKeyStore): Promise<Keyring> =>
    openVault({ ...keySources(sources), store, keyFile: undefined, readsOnly: true })
  const auditDeps = (keyring: Keyring) => ({ clock, key: () => keyring.current('audit') })
  return {
    openService: () => withKeyring(sources, (sealed) => openServicePostgres(sealed, addresses)),
    openOperator,
    openWriter: openOperator,
    create: async () => {},
    migrate: ({ app, operator, recorded, replaces }) =>
      withOwnedAudit(addresses, async (owned) => {
        const hasLog = await owned.hasLog()
        const audit = hasLog ? owned.openLog(auditDeps(await readKeys(owned.keys))) : undefined
        const settings = poolerSettings(config)
        const options = { settings, replaces }
        return await recorded(audit, () => migratePostgres(addresses, { app, operator }, options))
      }),
    check: (checkRecords) =>
      withOwnedAudit(addresses, ({ keys, findDestroyedKeys }) => {
        const sealing = {
          keyring: () => readKeys(keys),
          findDestroyedKeys,
        } as const
        return checkPostgres(addresses, { clock, sealing }, checkRecords)
      }),
    compact: () => compactPostgres(addresses),
    checks: async () => postgresChecks({ config, clock }),
    withAudit: (work) =>
      withOwnedAudit(addresses, (owned) =>
        work({
          reader: owned.reader,
          keyring: () => readKeys(owned.keys),
          openLog: (keyring) => owned.openLog(auditDeps(keyring)),
        }),
      ),
  }
}

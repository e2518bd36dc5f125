import { type Keyring, openVault, printInstant, systemRandom } from '@bursar/base'
import type { AuditEntry } from '@bursar/contract'
import type { AuditLog } from '../audit.ts'
import type { CredentialStore } from '../credentials.ts'
import type { OpenedStores, StoreDeps } from '../opened-stores.ts'
import type { Sealing } from './seals.ts'

/** The stores of one database and the keys that they keep. */
export type Stores = OpenedStores & {
  keyring(credentials: CredentialStore): Promise<Keyring>
  /** The audit log of this process. Its first entry says which schema a new log has begun with. */
  auditLog(keyring: Keyring): Promise<AuditLog>
}

/** The keys of stores, opened once. */
export function openedKeys(sources: StoreDeps, keyFile?: string) {
  const vault = { ...keySources(sources), keyFile }
  let opened: Promise<Keyring> | undefined
  const keyring = (store: CredentialStore): Promise<Keyring> => {
    opened ??= openVault({ store, ...vault }).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    sealing: (credentials: () => CredentialStore): Sealing => ({
      keyring: () => keyring(credentials()),
      source: sources.customerKeys,
      findDestroyedKeys: (fingerprints) => credentials().findDestroyedKeys(fingerprints),
    }),
    addTo: (stores: OpenedStores): Stores => ({
      ...stores,
      keyring,
      auditLog: async (keys) => {
        const log = stores.audit(() => keys.current('audit'))
        if (keys.made.includes('audit')) await log.write(await schemaEntry(stores))
        return log
      },
    }),
  }
}

export const keySources = ({
  clock,
  config: { masterKey, keyCommand, previousMasterKey },
}: StoreDeps) => ({
  masterKey,
  keyCommand,
  previousMasterKey,
  clock,
  random: systemRandom,
})

/** The first steps of a schema come before its first key, so they have no entries of their own. */
async function schemaEntry({ schemaSteps }: OpenedStores): Promise<AuditEntry> {
  const steps = (await schemaSteps()).map(({ name, at }) => ({ name, at: printInstant(at) }))
  return { action: 'find_schema', actor: { type: 'program' }, outcome: 'done', steps }
}

import { type Keyring, type KeyringDeps, openKeyring } from './keyring.ts'
import { type MasterKeyDeps, openMasterKeys } from './master-key.ts'

export type VaultDeps = Omit<KeyringDeps, 'masters'> & Omit<MasterKeyDeps, 'storeHoldsKeys'>

/** Finds the master key and opens every key of the store. Throws a ConfigError. */
export async function openVault(deps: VaultDeps): Promise<Keyring> {
  const keys = await deps.store.readPurposeKeys()
  const masters = openMasterKeys({ ...deps, storeHoldsKeys: keys.length > 0 })
  return openKeyring({ ...deps, masters })
}

import type { Clock } from '../platform/clock.ts'
import type { Secret } from '../platform/secret.ts'
import { type Keyring, openKeyring } from './keyring.ts'
import { openMasterKeys } from './master-key.ts'
import type { PurposeKeyStore } from './purpose-key.ts'
import type { Random } from './random.ts'

export type VaultDeps = {
  readonly store: PurposeKeyStore
  readonly masterKey: Secret | undefined
  readonly previousMasterKey: Secret | undefined
  /** The master key file of an embedded store. Undefined for PostgreSQL. */
  readonly keyFile: string | undefined
  readonly clock: Clock
  readonly random: Random
}

/** Finds the master key and opens every key of the store. Throws a ConfigError. */
export async function openVault(deps: VaultDeps): Promise<Keyring> {
  const keys = await deps.store.readPurposeKeys()
  const masters = openMasterKeys({ ...deps, storeHoldsKeys: keys.length > 0 })
  return openKeyring({ ...deps, masters })
}

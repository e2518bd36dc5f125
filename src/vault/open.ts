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
  /** Beside an embedded store: its path with `.master-key` for its ending. Undefined for PostgreSQL. */
  readonly keyFile: string | undefined
  readonly clock: Clock
  readonly random: Random
}

/** The keyring of a store: finds the master key, then opens every purpose key. Throws a ConfigError. */
export async function openVault(deps: VaultDeps): Promise<Keyring> {
  const held = await deps.store.readPurposeKeys()
  const masters = openMasterKeys({ ...deps, storeHoldsKeys: held.length > 0 })
  return openKeyring({ ...deps, masters })
}

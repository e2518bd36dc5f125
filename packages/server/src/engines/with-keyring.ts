import {
  type OpenedStores,
  openedKeys,
  type SealedDeps,
  type StoreDeps,
  type Stores,
} from '@bursar/records'

/**
 * Opens stores, and the keys at their first use. Only the embedded store makes a key file, where no
 * key is configured.
 */
export async function withKeyring(
  sources: StoreDeps,
  open: (sealed: SealedDeps) => OpenedStores | Promise<OpenedStores>,
  keyFile?: string,
): Promise<Stores> {
  const keys = openedKeys(sources, keyFile)
  const stores = await open({ ...sources, sealing: keys.sealing(() => stores.credentials()) })
  return keys.addTo(stores)
}

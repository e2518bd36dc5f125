/**
 * What a key is for. No key serves two purposes. What is stored under one of the purposes in
 * `resealedPurposes` is brought to its next key, and the former one is retired then.
 */
export const purposes = [
  'cursor',
  'client-secret',
  'client-row',
  'token-signing',
  'audit',
  'customer-key',
  'name-index',
  'customer-number',
  'import',
] as const
export type Purpose = (typeof purposes)[number]

export const resealedPurposes = [
  'client-row',
  'customer-number',
  'name-index',
  'customer-key',
] as const satisfies readonly Purpose[]

/** A stored key, encrypted with the master key that `masterId` names. Instants in microseconds. */
export type WrappedKey = {
  readonly id: string
  readonly purpose: Purpose
  readonly wrapped: string
  readonly masterId: string
  readonly createdAt: bigint
  /** New work uses the key from this time on. Until then every process has time to load it. */
  readonly activeFrom: bigint
  readonly revokedAt: bigint | undefined
}

/** `if-none` adds a key only if its purpose has none; `instead` revokes the others. */
type AddMode = 'if-none' | 'beside' | 'instead'

/** The part of the credential store that the keyring uses. Each change increments the revision. */
export type PurposeKeyStore = {
  /** In the order in which they were added. */
  readPurposeKeys(): Promise<readonly WrappedKey[]>
  /** False, and no change, if `if-none` found another key. */
  addPurposeKey(key: WrappedKey, mode: AddMode): Promise<boolean>
  /** Ends keys, which stay stored. */
  endPurposeKeys(ids: readonly string[], at: bigint): Promise<void>
  /** In one transaction: after a crash, every key is still wrapped with a configured master key. */
  rewrapPurposeKeys(keys: readonly WrappedKey[]): Promise<void>
}

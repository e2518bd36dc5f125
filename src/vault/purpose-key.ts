/** What a key is for. A key made for one purpose never serves another. */
export const purposes = ['cursor', 'client-secret', 'token-signing'] as const
export type Purpose = (typeof purposes)[number]

/** A key as the store keeps it: useless without the master key that `masterId` names. Instants in microseconds. */
export type WrappedKey = {
  readonly id: string
  readonly purpose: Purpose
  readonly wrapped: string
  readonly masterId: string
  readonly createdAt: bigint
  /** From here on new work uses this key; before, it is only known, so that every process has heard of it. */
  readonly activeFrom: bigint
  readonly revokedAt: bigint | undefined
}

/**
 * How a new key joins those of its purpose: only where there is none (two processes may start at once),
 * beside them, or in place of them, which revokes every other at the new one's `createdAt`.
 */
type Joining = 'if-none' | 'beside' | 'instead'

/** The part of the credential store that the keyring stands on. Each change bumps the store's revision. */
export type PurposeKeyStore = {
  /** In the order they were added. */
  readPurposeKeys(): Promise<readonly WrappedKey[]>
  /** False where `if-none` found one; nothing is changed then. */
  addPurposeKey(key: WrappedKey, joining: Joining): Promise<boolean>
  /** All of them in one transaction: a crash leaves every key under a master that is still configured. */
  rewrapPurposeKeys(keys: readonly WrappedKey[]): Promise<void>
}

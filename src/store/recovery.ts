/**
 * What is known of the last restore of the store. After a restore, nobody knows which clients were
 * disabled and which fees were consumed since the backup. Instants are microseconds since 1970,
 * UTC.
 */
export type Recovery = {
  /** The point in time of the restored state. */
  readonly restoredTo: bigint
  readonly restoredAt: bigint
  /** Every quote that was created before this was restored. */
  readonly quotesBefore: bigint
  /** Undefined: no client may get a token. */
  readonly clientsConfirmedAt: bigint | undefined
  /** Undefined: no withdrawal may consume a restored quote. */
  readonly reconciledAt: bigint | undefined
}

export type NewRecovery = Pick<Recovery, 'restoredTo' | 'restoredAt' | 'quotesBefore'>

/** Every change bumps the revision of credentials, so that running servers learn of it. */
export type RecoveryStore = {
  readRecovery(): Promise<Recovery | undefined>
  /** Starts a recovery and refuses every token from before `notBefore`. Replaces an earlier one. */
  startRecovery(recovery: NewRecovery, notBefore: bigint): Promise<void>
  /** Lets clients get tokens again. A second call keeps the first time. */
  confirmClients(at: bigint): Promise<void>
  /** Ends the recovery. A second call keeps the first time. */
  endRecovery(at: bigint): Promise<void>
}

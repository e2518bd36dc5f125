/** What of a customer's records was removed, or is there. */
export type ErasedRecords = {
  readonly records: number
  /** Versions that later ones have replaced. */
  readonly versions: number
  /** Events of fees. The other events are the versions. */
  readonly feeEvents: number
  /** The keys of the customer's bodies. */
  readonly keys: number
}

/** How far an erasure has come. */
export type ErasePlace = {
  /** The last entry of the log of changes that was looked at. */
  readonly walked: bigint
  /** How many versions the customer had when the feed was last told that they are gone. */
  readonly fenced: bigint | undefined
  /** The ids of the keys that the next step may delete: they are listed as destroyed. */
  readonly listed?: readonly string[]
}

export type ErasedPart = {
  readonly removed: ErasedRecords
  /** Where to go on; undefined once nothing is left. */
  readonly next: ErasePlace | undefined
  /** The fingerprints of keys that the caller must list as destroyed before it goes on. */
  readonly destroys?: readonly string[]
}

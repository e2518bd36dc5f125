/** What an address pays to. Dust limits and output sizes follow from it (`fees/models`). */
export type AddressKind =
  | 'p2pkh'
  | 'p2sh'
  | 'p2wpkh'
  | 'p2wsh'
  | 'p2tr'
  | 'p2pkh-token-aware'
  | 'p2sh-token-aware'
  | 'p2sh32'
  | 'p2sh32-token-aware'
  | 'evm'
  | 'wallet'
  | 'off-curve'
  | 'account'
  | 'muxed'

/** Why an address is refused; the machine's word beside the sentence in `detail`. */
export type AddressFault =
  | 'format'
  | 'length'
  | 'charset'
  | 'mixed_case'
  | 'padding'
  | 'checksum'
  | 'checksum_missing'
  | 'checksum_variant'
  | 'witness_version'
  | 'unsupported_witness'
  | 'unsupported_kind'
  | 'off_curve'
  | 'wrong_network'
  | 'legacy_format'
  | 'ambiguous_legacy_p2sh'
  | 'precompile'
  | 'token_contract'
  | 'program_or_sysvar'
  | 'secret_key'

/**
 * `detail` is one sentence for the caller. It never holds the address nor a part of it, because a text that
 * was pasted into an address field may be a private key.
 */
export type AddressCheck =
  | {
      readonly valid: true
      readonly kind: AddressKind
      /** The 64-bit id inside a muxed Stellar account, in decimal; it stands in the memo's place. */
      readonly memoId?: string
    }
  | { readonly valid: false; readonly reason: AddressFault; readonly detail: string }

export type AddressPolicy = {
  /** Accept the test networks' forms beside the main ones. Off: a testnet address is `wrong_network`. */
  readonly testnets?: boolean
  /**
   * Leave out what changes no verdict and only tells the kind: the curve test of Solana, 60 µs. Off-curve accounts are
   * then told as wallets.
   */
  readonly quick?: boolean
  /** Refuse EVM addresses in one case, which carry no checksum. Off: they are accepted. */
  readonly requireEvmChecksum?: boolean
}

export const accept = (kind: AddressKind): AddressCheck => ({ valid: true, kind })

export const refuse = (reason: AddressFault, detail: string): AddressCheck => ({
  valid: false,
  reason,
  detail,
})

/** The kind of output that an address pays to. It decides dust limits and output sizes. */
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

/** Why an address is refused, as a code for programs beside the sentence in `detail`. */
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
  | 'no_key'
  | 'contract'
  | 'token_contract'
  | 'token_issuer'
  | 'program_or_sysvar'
  | 'secret_key'

/** `detail` is for the caller. It never quotes the address, which may be a pasted private key. */
export type AddressCheck =
  | {
      readonly valid: true
      readonly kind: AddressKind
      /** The 64-bit id in a muxed Stellar account, in decimal. It replaces the memo. */
      readonly memoId?: string
    }
  | AddressRefusal

export type AddressRefusal = {
  readonly valid: false
  readonly reason: AddressFault
  readonly detail: string
}

export type AddressPolicy = {
  /** Accept addresses of test networks too. Otherwise they are refused as `wrong_network`. */
  readonly testnets?: boolean
  /** The operator issued the address, so it is not searched for patterns. */
  readonly issued?: boolean
  /** Skip the tests of Ed25519 keys (60 µs). Solana's off-curve accounts then count as wallets. */
  readonly quick?: boolean
  /** Refuse EVM addresses in a single case, which have no checksum. */
  readonly requireEvmChecksum?: boolean
}

export const accept = (kind: AddressKind): AddressCheck => ({ valid: true, kind })

export const refuse = (reason: AddressFault, detail: string): AddressRefusal => ({
  valid: false,
  reason,
  detail,
})

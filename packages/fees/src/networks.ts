import type { CryptoNetwork } from '@bursar/base'
import type { AddressCheck, AddressKind, AddressPolicy } from './addresses/address-check.ts'
import { checkCashAddress, encodeCashAddress, withCashPrefix } from './addresses/cash-address.ts'
import { checkEvmAddress, encodeEvmAddress, mixedCaseEvmAddress } from './addresses/evm-address.ts'
import { checkSolanaAddress, encodeSolanaAddress } from './addresses/solana-address.ts'
import { checkStellarAddress, encodeStellarAccount } from './addresses/stellar-address.ts'
import {
  bitcoinForms,
  checkUtxoAddress,
  encodeSegwitAddress,
  litecoinForms,
  type UtxoForms,
} from './addresses/utxo-address.ts'
import type { AssetKind } from './cost-model.ts'

/**
 * How a network prices a transfer. It selects the reader of its settings in the schedule, the cost
 * model, and the source that observes a node.
 */
type NetworkFamily = 'utxo' | 'bch' | 'evm' | 'op' | 'arbitrum' | 'solana' | 'stellar'

/** One key has the same address on every network of a family, and on no other network. */
type AddressFamily = 'bitcoin' | 'bitcoin-cash' | 'litecoin' | 'evm' | 'solana' | 'stellar'

/** What the program knows of a network. Its coin, tokens and rates are in the fee schedule. */
type NetworkTraits<F extends NetworkFamily = NetworkFamily> = {
  readonly family: F
  readonly addressFamily: AddressFamily
  readonly checkAddress: (address: string, policy: AddressPolicy) => AddressCheck
  /** The one spelling for keys and comparisons, of an address that has passed the check. */
  readonly spellAddress: (address: string, kind: AddressKind) => string
  /** Encodes a payload of this many bytes as the address that wallets issue today. */
  readonly encodeAddress: (payload: Uint8Array) => string
  readonly payloadBytes: 20 | 32
  readonly commonKind: AddressKind
  /** The kinds of token that exist here, each with the member that holds its address. */
  readonly tokenMembers: Readonly<Partial<Record<AssetKind, 'contract' | 'mint' | 'issuer'>>>
}

/** Bech32 has the same meaning in upper and lower case. */
const caseless: ReadonlySet<AddressKind> = new Set(['p2wpkh', 'p2wsh', 'p2tr'])

const utxo = (addressFamily: 'bitcoin' | 'litecoin', forms: UtxoForms): NetworkTraits<'utxo'> => ({
  family: 'utxo',
  addressFamily,
  checkAddress: (address, policy) => checkUtxoAddress(forms, address, policy),
  spellAddress: (address, kind) => (caseless.has(kind) ? address.toLowerCase() : address),
  encodeAddress: (payload) => encodeSegwitAddress(forms, payload),
  payloadBytes: 20,
  commonKind: 'p2wpkh',
  tokenMembers: {},
})

const evm = <F extends 'evm' | 'op' | 'arbitrum'>(family: F): NetworkTraits<F> => ({
  family,
  addressFamily: 'evm',
  checkAddress: checkEvmAddress,
  spellAddress: mixedCaseEvmAddress,
  encodeAddress: encodeEvmAddress,
  payloadBytes: 20,
  commonKind: 'evm',
  tokenMembers: { erc20: 'contract' },
})

/** One row for each network. Adding one starts here and in `values/network.ts`. */
export const networkTraits = {
  BITCOIN: utxo('bitcoin', bitcoinForms),
  ETHEREUM: evm('evm'),
  BITCOIN_CASH: {
    family: 'bch',
    addressFamily: 'bitcoin-cash',
    checkAddress: checkCashAddress,
    spellAddress: withCashPrefix,
    encodeAddress: encodeCashAddress,
    payloadBytes: 20,
    commonKind: 'p2pkh',
    tokenMembers: {},
  },
  LITECOIN: utxo('litecoin', litecoinForms),
  SOLANA: {
    family: 'solana',
    addressFamily: 'solana',
    checkAddress: checkSolanaAddress,
    spellAddress: (address) => address,
    encodeAddress: encodeSolanaAddress,
    payloadBytes: 32,
    commonKind: 'wallet',
    tokenMembers: { spl: 'mint', token2022: 'mint' },
  },
  POLYGON_POS: evm('evm'),
  BASE: evm('op'),
  ARBITRUM_ONE: evm('arbitrum'),
  STELLAR: {
    family: 'stellar',
    addressFamily: 'stellar',
    checkAddress: checkStellarAddress,
    spellAddress: (address) => address,
    encodeAddress: encodeStellarAccount,
    payloadBytes: 32,
    commonKind: 'account',
    tokenMembers: { trustline: 'issuer' },
  },
  INK: evm('op'),
  XLAYER: evm('op'),
} as const satisfies Readonly<Record<CryptoNetwork, NetworkTraits>>

/** The same rows without the family of each, for callers that take any network. */
export const traitsOf = (network: CryptoNetwork): NetworkTraits => networkTraits[network]

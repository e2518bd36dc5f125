import type { CryptoNetwork } from '../../values/network.ts'
import type { AddressKind, AddressPolicy } from './address-check.ts'
import { withCashPrefix } from './cash-address.ts'
import { checkAddress } from './check-address.ts'
import { mixedCaseEvmAddress } from './evm-address.ts'

/** Encodings that mean the same in upper and in lower case. */
const caseless: ReadonlySet<AddressKind> = new Set(['p2wpkh', 'p2wsh', 'p2tr'])

/**
 * The one spelling of an address, for keys and comparisons: Bech32 in lower case, CashAddr in lower case with its
 * prefix, EVM in EIP-55 form, everything else as it is. Two texts that pay to the same place on a network give the
 * same spelling. A text that `checkAddress` refuses under this policy has none and gives undefined.
 */
export function canonicalAddress(
  network: CryptoNetwork,
  address: string,
  policy: AddressPolicy = {},
): string | undefined {
  const check = checkAddress(network, address, policy)
  return check.valid ? spellingOf(network, address, check.kind) : undefined
}

/** The same for an address that has just been checked and is of this kind: a point is not tested on its curve twice. */
export function spellingOf(network: CryptoNetwork, address: string, kind: AddressKind): string {
  if (kind === 'evm') return mixedCaseEvmAddress(address)
  if (network === 'BITCOIN_CASH') return withCashPrefix(address)
  return caseless.has(kind) ? address.toLowerCase() : address
}

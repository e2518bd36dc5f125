import type { CryptoNetwork } from '../../values/network.ts'
import type { AddressKind, AddressPolicy } from './address-check.ts'
import { withCashPrefix } from './cash-address.ts'
import { checkAddress } from './check-address.ts'
import { mixedCaseEvmAddress } from './evm-address.ts'

/** Kinds whose encoding has the same meaning in upper and lower case. */
const caseless: ReadonlySet<AddressKind> = new Set(['p2wpkh', 'p2wsh', 'p2tr'])

/**
 * The canonical spelling of an address, for keys and comparisons: Bech32 and CashAddr in lower
 * case, CashAddr with its prefix, EVM in EIP-55 form, others unchanged. Two texts that pay to the
 * same destination have the same spelling. Returns undefined if `checkAddress` refuses the text
 * under this policy.
 */
export function canonicalAddress(
  network: CryptoNetwork,
  address: string,
  policy: AddressPolicy = {},
): string | undefined {
  const check = checkAddress(network, address, policy)
  return check.valid ? spellingOf(network, address, check.kind) : undefined
}

/** The canonical spelling of an address that has passed `checkAddress`, without a second check. */
export function spellingOf(network: CryptoNetwork, address: string, kind: AddressKind): string {
  if (kind === 'evm') return mixedCaseEvmAddress(address)
  if (network === 'BITCOIN_CASH') return withCashPrefix(address)
  return caseless.has(kind) ? address.toLowerCase() : address
}

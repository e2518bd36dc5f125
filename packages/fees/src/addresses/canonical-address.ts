import type { CryptoNetwork } from '@bursar/base'
import { traitsOf } from '../networks.ts'
import type { AddressPolicy } from './address-check.ts'
import { checkAddress } from './check-address.ts'

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
  return check.valid ? traitsOf(network).spellAddress(address, check.kind) : undefined
}

/** Whether one key has the same address on both networks. */
export const haveSameAddresses = (one: CryptoNetwork, other: CryptoNetwork): boolean =>
  traitsOf(one).addressFamily === traitsOf(other).addressFamily

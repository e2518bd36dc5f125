import type { CryptoNetwork } from '@bursar/base'
import { traitsOf } from '../networks.ts'
import { type AddressCheck, type AddressPolicy, refuse } from './address-check.ts'

/** Above every valid form (a CashAddr P2SH32 has 76 characters); bounds the cost of base58. */
const addressCharactersMax = 128

/**
 * Checks that a withdrawal on this network may pay to an address: by the network's checksum and by
 * policy (no test networks, no destination that is known to lose what it receives).
 *
 * The text is checked as it is: surrounding blanks, a URI scheme or a name make it invalid. Pure;
 * takes 2 to 15 µs, up to 120 µs with a curve test. Never throws.
 *
 * These checks are our own, over audited primitives (`@scure/base`, `@noble/*`). Of the libraries
 * for many networks, one accepts a Bitcoin Cash address with a broken checksum. Libraries for one
 * network each bring a policy and up to 100 packages. Their addresses are test vectors instead.
 *
 * Not every typo is found. EIP-55 has about one bit for each letter, so a changed address with few
 * letters may pass, about once in ten thousand. Solana addresses have no checksum, nor have EVM
 * addresses in one case, which `requireEvmChecksum` refuses.
 */
export function checkAddress(
  network: CryptoNetwork,
  address: string,
  policy: AddressPolicy = {},
): AddressCheck {
  if (address.length === 0) return refuse('length', 'The address is empty.')
  if (address.length > addressCharactersMax) {
    return refuse('length', `The address is longer than ${addressCharactersMax} characters.`)
  }
  return traitsOf(network).checkAddress(address, policy)
}

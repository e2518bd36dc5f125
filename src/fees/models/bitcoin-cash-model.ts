import { divideUp } from '../../values/rounding.ts'
import type { AddressKind } from '../addresses/address-check.ts'
import type { UtxoRates } from './utxo-model.ts'

/**
 * Bitcoin Cash has no witness, so a virtual byte is a byte. The rate is in satoshi per 1000 bytes.
 */
export type BitcoinCashRates = Omit<UtxoRates, 'family'> & { readonly family: 'bch' }

/** Output sizes in bytes: P2SH32 has 44; 34 is the larger of the 20-byte kinds. */
const outputBytes = (address: AddressKind): bigint => (address.startsWith('p2sh32') ? 44n : 34n)

/** Two inputs, the destination and change have 374 bytes: 748 satoshi at 2 a byte. */
export function bitcoinCashCost(rates: BitcoinCashRates, address: AddressKind): bigint {
  const bytes =
    rates.overheadVb + rates.inputs * rates.inputVb + outputBytes(address) + rates.changeVb
  return divideUp(bytes * rates.ratePerKvb, 1_000n)
}

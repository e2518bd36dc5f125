import { divideUp } from '../../values/rounding.ts'
import type { AddressKind } from '../addresses/address-check.ts'

/** Bitcoin, Litecoin and Bitcoin Cash (`bch`). The rate is in satoshi per 1000 virtual bytes. */
export type UtxoRates = {
  readonly family: 'utxo' | 'bch'
  readonly ratePerKvb: bigint
  readonly inputs: bigint
  readonly inputVb: bigint
  readonly overheadVb: bigint
  readonly changeVb: bigint
}

/** Output sizes in bytes: 8 for the value, 1 for the length, and the script. */
const outputVb: Readonly<Partial<Record<AddressKind, bigint>>> = {
  p2pkh: 34n,
  p2sh: 32n,
  p2wpkh: 31n,
  p2wsh: 43n,
  p2tr: 43n,
}

/** Used for unknown kinds, so that a kind added later is never undercharged. */
const outputVbMax = 43n

/** Bitcoin Cash: P2SH32 has 44 bytes; 34 is the larger of the 20-byte kinds. */
const cashOutputVb = (address: AddressKind) => (address.startsWith('p2sh32') ? 44n : 34n)

/** Assumes a fixed number of inputs and one change output, since the coins are not known yet. */
export function utxoCost(rates: UtxoRates, address: AddressKind): bigint {
  const { family, inputs, inputVb, overheadVb, changeVb, ratePerKvb } = rates
  const output = family === 'bch' ? cashOutputVb(address) : (outputVb[address] ?? outputVbMax)
  return divideUp((overheadVb + inputs * inputVb + output + changeVb) * ratePerKvb, 1_000n)
}

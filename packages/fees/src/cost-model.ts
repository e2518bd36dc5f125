import { divideUp } from '@bursar/base'
import type { AddressKind } from './addresses/address-check.ts'

/** The network's own coin, or the kind of token. */
export type AssetKind = 'native' | 'erc20' | 'spl' | 'token2022' | 'trustline'

/** The rates of one network, from the schedule or from a node. */
export type CostModel = UtxoRates | EvmRates | OpStackRates | SolanaRates | StellarRates

/**
 * The expected cost of one stand-alone withdrawal without margin, in smallest units of the native
 * coin, rounded up. It is not the worst case: an EIP-1559 base fee may rise 361-fold in ten
 * minutes, and the operator bears that risk.
 */
export function costOf(model: CostModel, kind: AssetKind, address: AddressKind): bigint {
  switch (model.family) {
    case 'utxo':
    case 'bch':
      return utxoCost(model, address)
    case 'evm':
    case 'arbitrum':
    case 'op':
      return evmCost(model, kind)
    case 'solana':
      return solanaCost(model, kind)
    case 'stellar':
      return model.stroopsPerOperation * model.operations
  }
}

/** Bitcoin, Litecoin and Bitcoin Cash (`bch`). The rate is in satoshi per 1000 virtual bytes. */
type UtxoRates = {
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
function utxoCost(rates: UtxoRates, address: AddressKind): bigint {
  const { family, inputs, inputVb, overheadVb, changeVb, ratePerKvb } = rates
  const output = family === 'bch' ? cashOutputVb(address) : (outputVb[address] ?? outputVbMax)
  return divideUp((overheadVb + inputs * inputVb + output + changeVb) * ratePerKvb, 1_000n)
}

/** One figure for the native coin and one for a token. */
export type PerTransfer = { readonly native: bigint; readonly erc20: bigint }

/**
 * EVM networks. The gas price is base fee plus tip, in wei. On Arbitrum One, gas includes the L1
 * part; the sequencer ignores tips, so the price is the base fee.
 */
type EvmRates = {
  readonly family: 'evm' | 'arbitrum'
  readonly gasPriceWei: bigint
  readonly gas: PerTransfer
}

/** Base, Ink and X Layer: gas on the chain itself and fees for its data on L1, all in wei. */
type OpStackRates = Omit<EvmRates, 'family'> & {
  readonly family: 'op'
  readonly l1FeeWei: PerTransfer
  readonly operatorFeeWei: PerTransfer
}

/** In wei: 65,000 gas at 6 gwei are 0.00039 ETH. `eth_estimateGas` leaves out the L1 fee. */
function evmCost(rates: EvmRates | OpStackRates, kind: AssetKind): bigint {
  const figure = kind === 'native' ? 'native' : 'erc20'
  const l2FeeWei = rates.gas[figure] * rates.gasPriceWei
  if (rates.family !== 'op') return l2FeeWei
  return l2FeeWei + rates.l1FeeWei[figure] + rates.operatorFeeWei[figure]
}

/** Compute units and rent depend on the token program of the asset. */
type SolanaRates = {
  readonly family: 'solana'
  readonly lamportsPerSignature: bigint
  readonly signatures: bigint
  readonly computeUnits: {
    readonly native: bigint
    readonly spl: bigint
    readonly token2022: bigint
  }
  /** In micro-lamports per compute unit. The network charges the requested limit, used or not. */
  readonly microLamportsPerUnit: bigint
  /** The rent-exempt balance of the recipient's token account. */
  readonly rentLamports: { readonly spl: bigint; readonly token2022: bigint }
  /** The share of withdrawals that pay this rent, in millionths. */
  readonly rentPpm: bigint
}

/** In lamports: signatures, priority fee and a share of the rent of the recipient's account. */
function solanaCost(rates: SolanaRates, kind: AssetKind): bigint {
  const program = kind === 'native' ? 'native' : kind === 'token2022' ? 'token2022' : 'spl'
  const signatureLamports = rates.lamportsPerSignature * rates.signatures
  const priorityLamports = divideUp(
    rates.computeUnits[program] * rates.microLamportsPerUnit,
    1_000_000n,
  )
  const rent = program === 'native' ? 0n : rates.rentLamports[program]
  return signatureLamports + priorityLamports + divideUp(rent * rates.rentPpm, 1_000_000n)
}

/** The bid of one transaction, for any asset. A ledger that is not full charges less. */
type StellarRates = {
  readonly family: 'stellar'
  readonly stroopsPerOperation: bigint
  readonly operations: bigint
}

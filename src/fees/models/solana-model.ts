import { divideUp } from '../../values/rounding.ts'
import type { AssetKind } from './asset-kind.ts'

/** Compute units and rent by the token program that serves the asset. */
export type SolanaRates = {
  readonly family: 'solana'
  readonly lamportsPerSignature: bigint
  readonly signatures: bigint
  readonly computeUnits: {
    readonly native: bigint
    readonly spl: bigint
    readonly token2022: bigint
  }
  /** Priority price in micro-lamports per compute unit; charged on the limit asked for, used or not. */
  readonly microLamportsPerUnit: bigint
  /** The rent-exempt balance of the recipient's token account. */
  readonly rentLamports: { readonly spl: bigint; readonly token2022: bigint }
  /** How often the house pays that rent, in millionths: 1,000,000 is always. */
  readonly rentPpm: bigint
}

/**
 * Signatures, priority and, for a token, the rent of an account that the recipient may lack, in lamports. The
 * rent is some 99 % of a token withdrawal's cost: USDC is 2,045,780 lamports of which 2,039,280 are rent.
 */
export function solanaCost(rates: SolanaRates, kind: AssetKind): bigint {
  const program = kind === 'native' ? 'native' : kind === 'token2022' ? 'token2022' : 'spl'
  const signatureLamports = rates.lamportsPerSignature * rates.signatures
  const priorityLamports = divideUp(
    rates.computeUnits[program] * rates.microLamportsPerUnit,
    1_000_000n,
  )
  const rent = program === 'native' ? 0n : rates.rentLamports[program]
  return signatureLamports + priorityLamports + divideUp(rent * rates.rentPpm, 1_000_000n)
}

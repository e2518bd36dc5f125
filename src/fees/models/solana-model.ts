import { divideUp } from '../../values/rounding.ts'
import type { AssetKind } from './asset-kind.ts'

/** Compute units and rent depend on the token program of the asset. */
export type SolanaRates = {
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

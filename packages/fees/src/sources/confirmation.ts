import { type AssetKind, type CostModel, costOf } from '../cost-model.ts'

export type CostState = {
  /** The costs that quotes use. */
  readonly accepted: CostModel
  /** Costs that jumped and wait for confirmation. */
  readonly pending?: CostModel
}

/**
 * Accepts costs within four times of the accepted ones. Others stay pending until the next
 * observation agrees with them, so that no single answer of a broken or dishonest node sets a
 * price.
 */
export function confirmCosts({ accepted, pending }: CostState, observed: CostModel): CostState {
  const isConfirmed = pending !== undefined && !isJump(pending, observed)
  if (isConfirmed || !isJump(accepted, observed)) return { accepted: observed }
  return { accepted, pending: observed }
}

/** Fee markets rarely move more than four times between two observations. */
const jumpFactor = 4n

const kinds: readonly AssetKind[] = ['native', 'erc20', 'spl', 'token2022']

function isJump(one: CostModel, other: CostModel): boolean {
  return kinds.some((kind) => {
    const [before, after] = [costOf(one, kind, 'p2wpkh'), costOf(other, kind, 'p2wpkh')]
    return after > before * jumpFactor || before > after * jumpFactor
  })
}

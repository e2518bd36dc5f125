import type { AssetKind } from '../models/asset-kind.ts'
import { type CostModel, costOf } from '../models/cost-model.ts'

/** Four times up or down is more than a fee market moves between two looks, most of the time. */
const jumpFactor = 4n

const kinds: readonly AssetKind[] = ['native', 'erc20', 'spl', 'token2022']

export type Standing = {
  /** The figures that quotes go by. */
  readonly accepted: CostModel
  /** Figures that jumped and wait for a second look. */
  readonly pending?: CostModel
}

export type Looked = Standing & { readonly isHeld: boolean }

/**
 * Figures within four times of the ones in force are taken; others wait until a later look agrees with them, so
 * that no single answer of a node, broken or dishonest, sets a price. A jump that the second look does not
 * confirm becomes the one that waits.
 */
export function look({ accepted, pending }: Standing, observed: CostModel): Looked {
  const isConfirmed = pending !== undefined && !isJump(pending, observed)
  if (isConfirmed || !isJump(accepted, observed)) return { accepted: observed, isHeld: false }
  return { accepted, pending: observed, isHeld: true }
}

function isJump(one: CostModel, other: CostModel): boolean {
  return kinds.some((kind) => {
    const [before, after] = [costOf(one, kind, 'p2wpkh'), costOf(other, kind, 'p2wpkh')]
    return after > before * jumpFactor || before > after * jumpFactor
  })
}

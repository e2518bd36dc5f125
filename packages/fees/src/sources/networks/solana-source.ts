import type { PlanOf } from '../../schedule/network-plan.ts'
import { at, type ExactJson } from '../nodes/exact-json.ts'
import { type NodeClient, resultOf } from '../nodes/node-client.ts'
import { ascending, wholeUnits } from './node-figures.ts'
import { type Bounded, bound, type Observation } from './observation.ts'

/** Ten times the rent of a token account, which is about 2 million lamports and falling. */
const rentLamportsMax = 20_000_000n

/**
 * Solana: the 75th percentile of the priority prices that were paid, and the rent of a token
 * account.
 *
 * Each slot reports the lowest price that a transaction paid; most are 0 and are ignored. The node
 * computes the rent, because its price per byte is being lowered in steps.
 */
export async function observeSolana(
  node: NodeClient,
  plan: PlanOf<'solana'>,
  signal: AbortSignal,
): Promise<Observation> {
  const { guard } = plan
  const rentMethod = 'getMinimumBalanceForRentExemption'
  const replies = await node.batch(
    [
      { method: 'getGenesisHash', params: [] },
      { method: 'getHealth', params: [] },
      { method: 'getRecentPrioritizationFees', params: [guard.priorityAccounts] },
      { method: rentMethod, params: [guard.accountBytes.spl] },
      { method: rentMethod, params: [guard.accountBytes.token2022] },
    ],
    signal,
  )
  if (resultOf(replies[0], 'getGenesisHash') !== guard.genesisHash) {
    throw new Error('is on another chain')
  }
  if (resultOf(replies[1], 'getHealth') !== 'ok') throw new Error('is still syncing')
  const paid = upperQuartile(resultOf(replies[2], 'getRecentPrioritizationFees'))
  const { floorMicroLamports, capMicroLamports } = guard
  const price = bound('the price of a compute unit', paid, floorMicroLamports, capMicroLamports)
  const rentAt = (index: number): Bounded => {
    const lamports = wholeUnits(resultOf(replies[index], rentMethod))
    return bound('the rent of a token account', lamports, 0n, rentLamportsMax)
  }
  const [spl, token2022] = [rentAt(3), rentAt(4)]
  return {
    model: {
      ...plan.rates,
      microLamportsPerUnit: price.units,
      rentLamports: { spl: spl.units, token2022: token2022.units },
    },
    alarms: [...price.alarms, ...spl.alarms, ...token2022.alarms],
  }
}

function upperQuartile(slots: ExactJson): bigint {
  if (!Array.isArray(slots)) throw new Error('sent no list of priority prices')
  const paid = slots
    .map((slot: ExactJson) => wholeUnits(at(slot, 'prioritizationFee')))
    .filter((price) => price > 0n)
    .sort(ascending)
  return paid[Math.floor((paid.length * 3) / 4)] ?? 0n
}

import { largest } from '@bursar/base'
import type { PlanOf } from '../../schedule/network-plan.ts'
import { at, type ExactJson } from '../nodes/exact-json.ts'
import type { NodeClient } from '../nodes/node-client.ts'
import { requireFreshHead, wholeUnits } from './node-figures.ts'
import { bound, type Observation } from './observation.ts'

/**
 * Stellar, through Horizon: the 95th percentile of charged operation fees, at least the ledger's
 * base fee, in stroops. It is a bid; a ledger that is not full charges less, and the operator keeps
 * the difference.
 */
export async function observeStellar(
  node: NodeClient,
  plan: PlanOf<'stellar'>,
  now: bigint,
  signal: AbortSignal,
): Promise<Observation> {
  const { guard } = plan
  const [root, stats] = await Promise.all([node.get('/', signal), node.get('/fee_stats', signal)])
  if (at(root, 'network_passphrase') !== guard.passphrase) throw new Error('is on another chain')
  requireFreshHead(closedSeconds(root), now, guard.maxHeadAgeSeconds)
  const bid = largest(
    wholeUnits(at(stats, 'fee_charged', 'p95')),
    wholeUnits(at(stats, 'last_ledger_base_fee')),
  )
  const { floorStroops, capStroops } = guard
  const { units, alarms } = bound('the fee of an operation', bid, floorStroops, capStroops)
  return { model: { ...plan.rates, stroopsPerOperation: units }, alarms }
}

function closedSeconds(root: ExactJson): bigint {
  const closedAt = at(root, 'history_latest_ledger_closed_at')
  const millis = typeof closedAt === 'string' ? Date.parse(closedAt) : Number.NaN
  if (Number.isNaN(millis)) throw new Error('sent no closing time of its newest ledger')
  return BigInt(Math.floor(millis / 1_000))
}

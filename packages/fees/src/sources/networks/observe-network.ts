import type { NetworkPlan } from '../../schedule/network-plan.ts'
import type { NodeClient } from '../nodes/node-client.ts'
import { observeArbitrum } from './arbitrum-source.ts'
import { observeEvm } from './evm-source.ts'
import type { Observation } from './observation.ts'
import { observeOpStack } from './op-stack-source.ts'
import { observeSolana } from './solana-source.ts'
import { observeStellar } from './stellar-source.ts'
import { observeBitcoinCash, observeUtxo } from './utxo-source.ts'

/** Observes one node. The message of a rejection quotes nothing that the node sent. */
export function observeNetwork(
  node: NodeClient,
  plan: NetworkPlan,
  now: bigint,
  signal: AbortSignal,
): Promise<Observation> {
  switch (plan.family) {
    case 'utxo':
      return observeUtxo(node, plan, now, signal)
    case 'bch':
      return observeBitcoinCash(node, plan, now, signal)
    case 'evm':
      return observeEvm(node, plan, now, signal)
    case 'op':
      return observeOpStack(node, plan, now, signal)
    case 'arbitrum':
      return observeArbitrum(node, plan, now, signal)
    case 'solana':
      return observeSolana(node, plan, signal)
    case 'stellar':
      return observeStellar(node, plan, now, signal)
  }
}

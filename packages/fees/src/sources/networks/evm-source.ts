import { largest } from '@bursar/base'
import type { EvmGuard, PlanOf } from '../../schedule/network-plan.ts'
import { at, type ExactJson } from '../nodes/exact-json.ts'
import { type NodeClient, type RpcCall, type RpcReply, resultOf } from '../nodes/node-client.ts'
import { ascending, hexUnits, requireFreshHead } from './node-figures.ts'
import { type Bounded, bound, type Observation } from './observation.ts'

/** The 60th percentile of tips in each of twenty blocks. */
const historyBlocks = '0x14'
const tipPercentile = 60

/** Ethereum and Polygon: the configured gas at the base fee and tip of the node's fee history. */
export async function observeEvm(
  node: NodeClient,
  plan: PlanOf<'evm'>,
  now: bigint,
  signal: AbortSignal,
): Promise<Observation> {
  const replies = await node.batch(evmCalls, signal)
  const { baseFeeWei, tipWei } = readGasPrice(replies, plan.guard, now)
  const { units, alarms } = boundGasPrice(baseFeeWei + tipWei, plan.guard)
  return { model: { ...plan.rates, gasPriceWei: units }, alarms }
}

/** Every batch of an EVM chain starts with these calls. `readGasPrice` reads their replies. */
export const evmCalls: readonly RpcCall[] = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_syncing', params: [] },
  { method: 'eth_getBlockByNumber', params: ['latest', false] },
  { method: 'eth_feeHistory', params: [historyBlocks, 'latest', [tipPercentile]] },
]

export type GasPrice = { readonly baseFeeWei: bigint; readonly tipWei: bigint }

/**
 * The highest base fee of the last blocks and the next one, and the median tip, in wei. This is the
 * expected price, not the `2 × base` that a sender allows for. Throws if the node is on another
 * chain or behind.
 */
export function readGasPrice(replies: readonly RpcReply[], guard: EvmGuard, now: bigint): GasPrice {
  requireChain(replies[0], guard.chainId)
  if (resultOf(replies[1], 'eth_syncing') !== false) throw new Error('is still syncing')
  const head = hexUnits(at(resultOf(replies[2], 'eth_getBlockByNumber'), 'timestamp'))
  requireFreshHead(head, now, guard.maxHeadAgeSeconds)
  const history = resultOf(replies[3], 'eth_feeHistory')
  const baseFees = listAt(history, 'baseFeePerGas').map(hexUnits)
  if (baseFees.length === 0) throw new Error('has no history of fees')
  return {
    baseFeeWei: largest(0n, ...baseFees),
    tipWei: largest(guard.tipWeiMin, medianTip(history)),
  }
}

/** Throws unless the reply to eth_chainId is this chain's id. */
export function requireChain(reply: RpcReply | undefined, chainId: bigint): void {
  if (hexUnits(resultOf(reply, 'eth_chainId')) !== chainId) throw new Error('is on another chain')
}

export const boundGasPrice = (gasPriceWei: bigint, guard: EvmGuard): Bounded =>
  bound('the gas price', gasPriceWei, guard.floorGasPriceWei, guard.capGasPriceWei)

/** Ignores empty blocks, which report a tip of 0 that no transaction paid. */
function medianTip(history: ExactJson): bigint {
  const filled = listAt(history, 'gasUsedRatio').map(
    (ratio) => typeof ratio === 'string' && /^[\d.]*[1-9]/.test(ratio),
  )
  const tips = listAt(history, 'reward')
    .filter((_, index) => filled[index] === true)
    .map((reward) => hexUnits(at(reward, '0')))
    .sort(ascending)
  return tips[Math.floor(tips.length / 2)] ?? 0n
}

function listAt(json: ExactJson, member: string): readonly ExactJson[] {
  const list = at(json, member)
  return Array.isArray(list) ? list : []
}

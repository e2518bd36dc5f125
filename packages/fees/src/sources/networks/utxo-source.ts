import { largest } from '@bursar/base'
import type { PlanOf, UtxoGuard } from '../../schedule/network-plan.ts'
import { at } from '../nodes/exact-json.ts'
import { type NodeClient, type RpcCall, type RpcReply, resultOf } from '../nodes/node-client.ts'
import { decimalUnits, requireFreshHead, wholeUnits } from './node-figures.ts'
import { bound, type Observation } from './observation.ts'

/** Nodes give rates in coins per 1000 bytes; these coins have eight decimals. */
const coinDecimals = 8

/**
 * Bitcoin Core and Litecoin Core: the higher of the fee estimate and the mempool's minimum, in
 * satoshi per kvB.
 *
 * The estimate mode is always given and a third argument never, because later versions changed both
 * defaults. A new node answers HTTP 200 without a rate, which is a failure here.
 */
export async function observeUtxo(
  node: NodeClient,
  plan: PlanOf<'utxo'>,
  now: bigint,
  signal: AbortSignal,
): Promise<Observation> {
  const { guard } = plan
  const target = guard.confirmationTarget
  const estimateCall = { method: 'estimatesmartfee', params: [target, 'conservative'] }
  const mempoolCall = { method: 'getmempoolinfo', params: [] }
  const replies = await node.batch([...guardCalls(guard), estimateCall, mempoolCall], signal)
  requireOurChain(replies, guard, now)
  const estimate = at(resultOf(replies[2], 'estimatesmartfee'), 'feerate')
  if (estimate === undefined) throw new Error('has too little data for an estimate')
  const mempool = resultOf(replies[3], 'getmempoolinfo')
  const rate = largest(
    decimalUnits(estimate, coinDecimals),
    decimalUnits(at(mempool, 'mempoolminfee'), coinDecimals),
    decimalUnits(at(mempool, 'minrelaytxfee') ?? '0', coinDecimals),
  )
  return withRate(plan, rate)
}

/**
 * Bitcoin Cash nodes: `estimatefee` without arguments where it exists, and the relay fees, in
 * satoshi per kB. Implementations differ in method names, so all are called and one rate is enough.
 */
export async function observeBitcoinCash(
  node: NodeClient,
  plan: PlanOf<'bch'>,
  now: bigint,
  signal: AbortSignal,
): Promise<Observation> {
  const { guard } = plan
  const methods = ['estimatefee', 'getnetworkinfo', 'getmempoolinfo']
  const rateCalls = methods.map((method) => ({ method, params: [] }))
  const replies = await node.batch([...guardCalls(guard), ...rateCalls], signal)
  requireOurChain(replies, guard, now)
  const rates = [
    readRate(replies[2]),
    readRate(replies[3], 'relayfee'),
    readRate(replies[4], 'mempoolminfee'),
  ].filter((rate) => rate !== undefined)
  if (rates.length === 0) throw new Error('sent no rate by any method')
  return withRate(plan, largest(0n, ...rates))
}

function withRate({ rates, guard }: PlanOf<'utxo'> | PlanOf<'bch'>, rate: bigint): Observation {
  const { units, alarms } = bound('the rate per kvB', rate, guard.floorPerKvb, guard.capPerKvb)
  return { model: { ...rates, ratePerKvb: units }, alarms }
}

const guardCalls = ({ knownBlock }: UtxoGuard): RpcCall[] => [
  { method: 'getblockchaininfo', params: [] },
  { method: 'getblockhash', params: [knownBlock?.height ?? 0] },
]

/**
 * Bitcoin and Bitcoin Cash are both `main` and share their first blocks, so the node must know a
 * block after the split by its hash. A node that is still syncing estimates from old blocks and is
 * refused.
 */
function requireOurChain(replies: readonly RpcReply[], guard: UtxoGuard, now: bigint): void {
  const info = resultOf(replies[0], 'getblockchaininfo')
  if (at(info, 'chain') !== guard.chain) throw new Error('is on another chain')
  const { knownBlock } = guard
  if (knownBlock !== undefined && resultOf(replies[1], 'getblockhash') !== knownBlock.hash) {
    throw new Error('is on another chain')
  }
  if (at(info, 'initialblockdownload') !== false) throw new Error('is still syncing')
  const headSeconds = wholeUnits(at(info, 'time') ?? at(info, 'mediantime'))
  requireFreshHead(headSeconds, now, guard.maxHeadAgeSeconds)
}

/** Nodes answer -1 or an error if they have no estimate; this method then has no rate. */
function readRate(reply: RpcReply | undefined, ...path: readonly string[]): bigint | undefined {
  const value = reply?.ok === true ? at(reply.result, ...path) : undefined
  if (typeof value !== 'string' || value.startsWith('-')) return undefined
  return decimalUnits(value, coinDecimals)
}

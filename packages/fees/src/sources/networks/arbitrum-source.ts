import { divideUp, largest } from '@bursar/base'
import type { PlanOf } from '../../schedule/network-plan.ts'
import type { NodeClient, RpcCall } from '../nodes/node-client.ts'
import { bytesArgument, ethCall, firstWord, word } from './eth-call.ts'
import { boundGasPrice, evmCalls, readGasPrice } from './evm-source.ts'
import { bound, type Observation } from './observation.ts'

/** Precompiled contracts of Arbitrum's nodes. */
const nodeInterface = '0x00000000000000000000000000000000000000C8'
const arbGasInfo = '0x000000000000000000000000000000000000006C'

/** Only the size of the data counts, so any recipient will do. */
const recipient = BigInt(`0x${'11'.repeat(20)}`)
/** The data of an ERC-20 withdrawal: transfer(address,uint256) with an amount of full length. */
const tokenTransfer = `a9059cbb${word(recipient)}${'ff'.repeat(32)}`

/** gasEstimateL1Component(address,bool,bytes) answers even if the transfer would revert. */
const l1Component = (data: string): RpcCall =>
  ethCall(nodeInterface, `77d488a2${word(recipient)}${word(0n)}${word(96n)}${bytesArgument(data)}`)

/** getMinimumGasPrice(): the chain's price floor, which its owners may change. */
const minimumGasPrice = ethCall(arbGasInfo, 'f918379a')

/** More than a whole Ethereum block once held, so a higher figure is invalid. */
const l1GasMax = 30_000_000n

/**
 * Arbitrum One: the base fee, at least the chain's own minimum, and gas with the L1 part. The L1
 * part is padded by a tenth, since it follows the price of L1 data. The sequencer ignores tips.
 */
export async function observeArbitrum(
  node: NodeClient,
  plan: PlanOf<'arbitrum'>,
  now: bigint,
  signal: AbortSignal,
): Promise<Observation> {
  const { rates, guard } = plan
  const precompileCalls = [l1Component(''), l1Component(tokenTransfer), minimumGasPrice]
  const replies = await node.batch([...evmCalls, ...precompileCalls], signal)
  const { baseFeeWei } = readGasPrice(replies, guard, now)
  const [native, token, minimum] = replies.slice(evmCalls.length)
  const price = boundGasPrice(largest(baseFeeWei, firstWord(minimum) ?? 0n), guard)
  const gasOf = (kind: 'native' | 'erc20', l1Gas: bigint | undefined) => {
    const isKnown = l1Gas !== undefined
    const gas = isKnown ? guard.l2Gas[kind] + divideUp(l1Gas * 11n, 10n) : rates.gas[kind]
    return bound('the gas of a transfer', gas, 0n, l1GasMax)
  }
  const nativeGas = gasOf('native', firstWord(native, 3))
  const tokenGas = gasOf('erc20', firstWord(token, 3))
  return {
    model: {
      ...rates,
      gasPriceWei: price.units,
      gas: { native: nativeGas.units, erc20: tokenGas.units },
    },
    alarms: [...price.alarms, ...nativeGas.alarms, ...tokenGas.alarms],
  }
}

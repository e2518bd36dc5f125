import type { PerTransfer } from '../../cost-model.ts'
import type { PlanOf } from '../../schedule/network-plan.ts'
import type { NodeClient, RpcCall, RpcReply } from '../nodes/node-client.ts'
import { bytesArgument, ethCall, firstWord, word } from './eth-call.ts'
import { boundGasPrice, evmCalls, readGasPrice } from './evm-source.ts'
import { bound, type Observation } from './observation.ts'

/** The predeployed GasPriceOracle has the same address on every OP-stack chain. */
const gasPriceOracle = '0x420000000000000000000000000000000000000F'
/** Bytes of an unsigned transfer, above the usual 51 and 113. */
const transactionBytes: PerTransfer = { native: 120n, erc20: 180n }

/** getL1FeeUpperBound(uint256), since the Fjord upgrade. */
const upperBound = (bytes: bigint): RpcCall => ethCall(gasPriceOracle, `f1c7a58b${word(bytes)}`)

/** getL1Fee(bytes), in every version. The sample bytes compress as badly as signatures do. */
function l1Fee(bytes: bigint): RpcCall {
  const sample = Uint8Array.from({ length: Number(bytes) }, (_, index) => (index * 151 + 89) % 256)
  const argument = bytesArgument(Buffer.from(sample).toString('hex'))
  return ethCall(gasPriceOracle, `49948e0e${word(32n)}${argument}`)
}

/** getOperatorFee(uint256), since the Isthmus upgrade. */
const operatorFee = (gas: bigint): RpcCall => ethCall(gasPriceOracle, `275aedd2${word(gas)}`)

/**
 * Base, Ink and X Layer: the chain's gas price, and the L1 and operator fees by its oracle
 * contract. Three upgrades changed the formulas, so none is recomputed here.
 *
 * Without an oracle (X Layer documents none) the configured L1 fee is used. A missing operator fee
 * is 0.
 */
export async function observeOpStack(
  node: NodeClient,
  plan: PlanOf<'op'>,
  now: bigint,
  signal: AbortSignal,
): Promise<Observation> {
  const { rates, guard } = plan
  const oracleCalls = (['native', 'erc20'] as const).flatMap((kind) => [
    upperBound(transactionBytes[kind]),
    l1Fee(transactionBytes[kind]),
    operatorFee(rates.gas[kind]),
  ])
  const replies = await node.batch([...evmCalls, ...oracleCalls], signal)
  const { baseFeeWei, tipWei } = readGasPrice(replies, guard, now)
  const gasPrice = boundGasPrice(baseFeeWei + tipWei, guard)
  const readL1 = (upper: RpcReply | undefined, exact: RpcReply | undefined, configured: bigint) =>
    bound('the L1 fee', firstWord(upper) ?? firstWord(exact) ?? configured, 0n, guard.capL1FeeWei)
  const readOperator = (reply: RpcReply | undefined) =>
    bound('the operator fee', firstWord(reply) ?? 0n, 0n, guard.capL1FeeWei)
  const oracle = replies.slice(evmCalls.length)
  const native = readL1(oracle[0], oracle[1], rates.l1FeeWei.native)
  const token = readL1(oracle[3], oracle[4], rates.l1FeeWei.erc20)
  const [nativeOperator, tokenOperator] = [readOperator(oracle[2]), readOperator(oracle[5])]
  const bounded = [gasPrice, native, token, nativeOperator, tokenOperator]
  return {
    model: {
      ...rates,
      gasPriceWei: gasPrice.units,
      l1FeeWei: { native: native.units, erc20: token.units },
      operatorFeeWei: { native: nativeOperator.units, erc20: tokenOperator.units },
    },
    alarms: bounded.flatMap(({ alarms }) => alarms),
  }
}

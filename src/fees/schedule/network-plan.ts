import { Type } from 'typebox'
import { largest } from '../../values/bounds.ts'
import { type CryptoNetwork, cryptoNetworks } from '../../values/network.ts'
import type { AddressKind } from '../addresses/address-check.ts'
import type { PerTransfer } from '../models/evm-model.ts'
import { networkTraits } from '../networks.ts'
import {
  type Check,
  constant,
  convert,
  from,
  leaf,
  list,
  object,
  optional,
  type Reader,
  record,
  type Shape,
  type ValueOf,
} from './document-reader.ts'
import {
  basisPoints,
  count,
  endpoint,
  integer,
  oneOf,
  solanaKey,
  symbol,
  text,
  units,
} from './readers.ts'

/** One network's settings: costs by the schedule are `rates`, checks of a node's answer `guard`. */
export type NetworkPlan = ValueOf<typeof networks>[CryptoNetwork] & {
  readonly network: CryptoNetwork
  readonly nativeDecimals: number
}
export type PlanOf<F extends NetworkPlan['family']> = Extract<NetworkPlan, { family: F }>
export type EvmGuard = PlanOf<'evm'>['guard']
export type UtxoGuard = PlanOf<'utxo'>['guard']

/** `always`, `never`, or a decimal from 0 to 1 with up to six digits, in millionths. */
const probabilityPpm = convert(text('^(always|never|0|0?\\.[0-9]{1,6}|1)$'), (given) => {
  if (given === 'always' || given === '1') return 1_000_000n
  if (given === 'never' || given === '0') return 0n
  return BigInt(given.slice(given.indexOf('.') + 1).padEnd(6, '0'))
})

/** A figure of the schedule must be within the bounds for a node's figure. */
const requireBounds =
  (rate: string, floor: string, cap: string): Check =>
  (members, addFault) => {
    const [value, least, most] = [members.get(rate), members.get(floor), members.get(cap)]
    if (typeof value !== 'bigint') return
    const isLow = typeof least === 'bigint' && value < least
    const isHigh = typeof most === 'bigint' && value > most
    if (isLow || isHigh) addFault(rate, `is not from ${floor} to ${cap}`)
  }

/** The smallest amount of the native coin that can be sent to an address of this kind. */
type NativeUnitsMin = (address: AddressKind) => bigint

const outputKinds: ReadonlySet<string> = new Set<AddressKind>([
  ...(['p2pkh', 'p2sh', 'p2wpkh', 'p2wsh', 'p2tr', 'p2sh32'] as const),
  ...(['p2pkh-token-aware', 'p2sh-token-aware', 'p2sh32-token-aware'] as const),
])

const limitByKind = record(() => units)
/** A kind without its own limit takes the highest. Nodes do not relay smaller outputs. */
const dustLimit = convert(limitByKind, (limits, addFault): NativeUnitsMin => {
  for (const kind of limits.keys()) {
    if (!outputKinds.has(kind)) addFault(kind, 'is no setting of the fee schedule')
  }
  const highest = largest(1n, ...limits.values())
  return (address) => limits.get(address) ?? highest
})

/** A network's own rates and guard, with what all networks have in common. */
const network = <F extends string, R extends Shape, G extends Shape, M extends Shape[string]>(
  family: F,
  rates: R,
  guard: G,
  nativeUnitsMin: M,
  check: Check,
) => {
  const shape = {
    family: constant(family),
    /** The coin that pays the network. */
    native: symbol,
    marginBasisPoints: from('margin_bp', basisPoints),
    refreshSeconds: from('refresh_s', integer(1, 3_600)),
    maxAgeSeconds: from('max_age_s', integer(1, 86_400)),
    /** What to do when every node's figure is older than `maxAgeSeconds`. */
    onStale: from('on_stale', oneOf('schedule', 'fail')),
    endpoints: from('rpc', list(endpoint, 8)),
    rates: { family: constant(family), ...rates },
    guard: { maxHeadAgeSeconds: from('max_head_age_s', integer(1, 86_400)), ...guard },
    nativeUnitsMin,
  }
  return object(shape, check)
}

const knownBlock = object({ height: integer(0), hash: text('^[0-9a-f]{64}$') })
const utxo = <F extends 'utxo' | 'bch'>(family: F) =>
  network(
    family,
    {
      ratePerKvb: from('rate_per_kvb', units),
      inputs: count,
      inputVb: from('input_vb', count),
      overheadVb: from('overhead_vb', count),
      changeVb: from('change_vb', count),
    },
    {
      chain: leaf(Type.String({ minLength: 1, maxLength: 20 })),
      knownBlock: from('known_block', optional(knownBlock)),
      confirmationTarget: from('confirmation_target', integer(2, 1_008)),
      floorPerKvb: from('floor_per_kvb', units),
      capPerKvb: from('cap_per_kvb', units),
    },
    from('dust', dustLimit),
    requireBounds('rate_per_kvb', 'floor_per_kvb', 'cap_per_kvb'),
  )

const perTransfer: Reader<PerTransfer> = object({ native: count, erc20: count })
const samePerTransfer = (units: bigint): PerTransfer => ({ native: units, erc20: units })
function anyKind(least: bigint): NativeUnitsMin {
  return () => least
}

const evmPlan = <F extends string, R extends Shape, G extends Shape>(
  family: F,
  rates: R,
  guard: G,
) =>
  network(
    family,
    { gasPriceWei: from('gas_price_wei', units), gas: perTransfer, ...rates },
    {
      chainId: from('chain_id', convert(integer(1), BigInt)),
      floorGasPriceWei: from('floor_gas_price_wei', units),
      capGasPriceWei: from('cap_gas_price_wei', units),
      ...guard,
    },
    constant(anyKind(1n)),
    requireBounds('gas_price_wei', 'floor_gas_price_wei', 'cap_gas_price_wei'),
  )
const tipWeiMin = from('min_tip_wei', units)
const evm = evmPlan('evm', {}, { tipWeiMin })

const opStack = convert(
  evmPlan(
    'op',
    {
      l1FeeWei: from('l1_fee_wei', convert(units, samePerTransfer)),
      operatorFeeWei: constant(samePerTransfer(0n)),
    },
    { tipWeiMin, capL1FeeWei: from('cap_l1_fee_wei', units) },
  ),
  (plan, addFault) => {
    const isHigh = plan.rates.l1FeeWei.native > plan.guard.capL1FeeWei
    if (isHigh) addFault('l1_fee_wei', 'is above cap_l1_fee_wei')
    return plan
  },
)

// The sequencer ignores tips. `gas` includes the gas of the L1 part, `l2_gas` does not.
const arbitrumGuard = { tipWeiMin: constant(0n), l2Gas: from('l2_gas', perTransfer) }
const arbitrum = evmPlan('arbitrum', {}, arbitrumGuard)

const accountBytes = integer(1, 1_000_000)
const solana = convert(
  network(
    'solana',
    {
      lamportsPerSignature: from('lamports_per_signature', units),
      signatures: count,
      computeUnits: from('cu', object({ native: count, spl: count, token2022: count })),
      microLamportsPerUnit: from('cu_price_ulamports', units),
      rentPpm: from('ata_charge', probabilityPpm),
      lamportsPerByte: from('lamports_per_byte', units),
    },
    {
      genesisHash: from('genesis_hash', solanaKey),
      /** The node reports priority prices of transactions that lock these accounts. */
      priorityAccounts: from('priority_accounts', list(solanaKey, 128)),
      floorMicroLamports: from('floor_cu_price_ulamports', units),
      capMicroLamports: from('cap_cu_price_ulamports', units),
      accountBytes: from('ata_bytes', object({ spl: accountBytes, token2022: accountBytes })),
    },
    from('new_account_min_lamports', convert(units, anyKind)),
    requireBounds('cu_price_ulamports', 'floor_cu_price_ulamports', 'cap_cu_price_ulamports'),
  ),
  ({ rates: { lamportsPerByte, ...rates }, ...plan }) => {
    const { spl, token2022 } = plan.guard.accountBytes
    // Solana adds 128 bytes to the size of an account when it computes the rent.
    const rent = (bytes: number) => BigInt(bytes + 128) * lamportsPerByte
    const rentLamports = { spl: rent(spl), token2022: rent(token2022) }
    return { ...plan, rates: { ...rates, rentLamports } }
  },
)

const stellar = network(
  'stellar',
  { stroopsPerOperation: from('stroops_per_op', units), operations: from('ops', count) },
  {
    passphrase: from('network_passphrase', leaf(Type.String({ minLength: 1, maxLength: 200 }))),
    floorStroops: from('floor_stroops', units),
    capStroops: from('cap_stroops', units),
  },
  // A new account needs two base reserves, and a quote cannot know whether the account exists.
  from(
    'base_reserve_stroops',
    convert(units, (reserve) => anyKind(2n * reserve)),
  ),
  requireBounds('stroops_per_op', 'floor_stroops', 'cap_stroops'),
)

const planOf = {
  utxo: utxo('utxo'),
  bch: utxo('bch'),
  evm,
  op: opStack,
  arbitrum,
  solana,
  stellar,
}
type Plans = {
  readonly [N in CryptoNetwork]: (typeof planOf)[(typeof networkTraits)[N]['family']]
}

/** The document's `networks`. Each is read by the plan of its family. */
export const networks = object(
  Object.fromEntries(
    cryptoNetworks.map((network) => [network, planOf[networkTraits[network].family]]),
  ) as Plans,
)

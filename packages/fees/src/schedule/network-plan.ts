import { type CryptoNetwork, cryptoNetworks, largest } from '@bursar/base'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { AddressKind } from '../addresses/address-check.ts'
import { networkTraits } from '../networks.ts'
import type { AddFault, DocumentParts, Environment } from './document-parts.ts'
import {
  basisPoints,
  bigints,
  count,
  type Endpoint,
  endpoint,
  integer,
  list,
  object,
  oneOf,
  solanaKey,
  symbol,
  text,
  toEndpoint,
  units,
} from './schedule-members.ts'

/** One network's settings: costs by the schedule are `rates`, checks of a node's answer `guard`. */
export type NetworkPlan = ReturnType<(typeof families)[keyof typeof families]['toPlan']> & {
  readonly network: CryptoNetwork
  readonly nativeDecimals: number
  readonly endpoints: readonly Endpoint[]
}
export type PlanOf<F extends NetworkPlan['family']> = Extract<NetworkPlan, { family: F }>
export type EvmGuard = PlanOf<'evm'>['guard']
export type UtxoGuard = PlanOf<'utxo'>['guard']

/** The settings that every network has. */
const commonMembers = {
  /** The coin that pays the network. */
  native: symbol,
  margin_bp: basisPoints,
  refresh_s: integer(1, 3_600),
  max_age_s: integer(1, 86_400),
  /** What to do when every node's figure is older than `max_age_s`. */
  on_stale: oneOf('schedule', 'fail'),
  rpc: list(endpoint, 8),
  max_head_age_s: integer(1, 86_400),
}

const commonOf = (document: Static<TObject<typeof commonMembers>>) => ({
  native: document.native,
  marginBasisPoints: BigInt(document.margin_bp),
  refreshSeconds: document.refresh_s,
  maxAgeSeconds: document.max_age_s,
  onStale: document.on_stale,
})

/** A member of the schedule, and those between which it and a node's figure must be. */
type Bounded = readonly [rate: string, floor: string, cap: string]

/** How the settings of a family of networks are written, and what they mean. */
const family = <S extends TSchema, P>(
  schema: S,
  bounded: Bounded,
  toPlan: (document: Static<S>, addFault: AddFault) => P,
) => ({
  schema,
  bounded,
  toPlan: (checked: unknown, addFault: AddFault) => toPlan(checked as Static<S>, addFault),
})

/** The smallest amount of the native coin that can be sent to an address of this kind. */
type NativeUnitsMin = (address: AddressKind) => bigint

function anyKind(least: bigint): NativeUnitsMin {
  return () => least
}

const outputKinds = [
  ...(['p2pkh', 'p2sh', 'p2wpkh', 'p2wsh', 'p2tr', 'p2sh32'] as const),
  ...(['p2pkh-token-aware', 'p2sh-token-aware', 'p2sh32-token-aware'] as const),
] satisfies AddressKind[]

const dust = Type.Unsafe<Readonly<Record<string, Static<typeof units>>>>(
  object(Object.fromEntries(outputKinds.map((kind) => [kind, Type.Optional(units)]))),
)

/** A kind without its own limit takes the highest. Nodes do not relay smaller outputs. */
function dustLimit(document: Static<typeof dust>): NativeUnitsMin {
  const limits = new Map(Object.entries(bigints(document)))
  const highest = largest(1n, ...limits.values())
  return (address) => limits.get(address) ?? highest
}

const utxo = <F extends 'utxo' | 'bch'>(name: F) =>
  family(
    object({
      ...commonMembers,
      rate_per_kvb: units,
      inputs: count,
      input_vb: count,
      overhead_vb: count,
      change_vb: count,
      chain: Type.String({ minLength: 1, maxLength: 20 }),
      known_block: Type.Optional(object({ height: integer(0), hash: text('^[0-9a-f]{64}$') })),
      confirmation_target: integer(2, 1_008),
      floor_per_kvb: units,
      cap_per_kvb: units,
      dust,
    }),
    ['rate_per_kvb', 'floor_per_kvb', 'cap_per_kvb'],
    (document) => ({
      ...commonOf(document),
      family: name,
      rates: {
        family: name,
        ...bigints({
          ratePerKvb: document.rate_per_kvb,
          inputs: document.inputs,
          inputVb: document.input_vb,
          overheadVb: document.overhead_vb,
          changeVb: document.change_vb,
        }),
      },
      guard: {
        maxHeadAgeSeconds: document.max_head_age_s,
        chain: document.chain,
        knownBlock: document.known_block,
        confirmationTarget: document.confirmation_target,
        floorPerKvb: BigInt(document.floor_per_kvb),
        capPerKvb: BigInt(document.cap_per_kvb),
      },
      nativeUnitsMin: dustLimit(document.dust),
    }),
  )

const perTransfer = object({ native: count, erc20: count })

const evmMembers = {
  ...commonMembers,
  gas_price_wei: units,
  gas: perTransfer,
  chain_id: integer(1),
  floor_gas_price_wei: units,
  cap_gas_price_wei: units,
}
const evmBounded = ['gas_price_wei', 'floor_gas_price_wei', 'cap_gas_price_wei'] as const

const evmPlan = <F extends 'evm' | 'op' | 'arbitrum'>(
  name: F,
  document: Static<TObject<typeof evmMembers>>,
  tipWeiMin: bigint,
) => ({
  ...commonOf(document),
  family: name,
  rates: { family: name, gasPriceWei: BigInt(document.gas_price_wei), gas: bigints(document.gas) },
  guard: {
    maxHeadAgeSeconds: document.max_head_age_s,
    chainId: BigInt(document.chain_id),
    floorGasPriceWei: BigInt(document.floor_gas_price_wei),
    capGasPriceWei: BigInt(document.cap_gas_price_wei),
    tipWeiMin,
  },
  nativeUnitsMin: anyKind(1n),
})

const evm = family(object({ ...evmMembers, min_tip_wei: units }), evmBounded, (document) =>
  evmPlan('evm', document, BigInt(document.min_tip_wei)),
)

const samePerTransfer = (figure: bigint) => ({ native: figure, erc20: figure })

const opStack = family(
  object({ ...evmMembers, min_tip_wei: units, l1_fee_wei: units, cap_l1_fee_wei: units }),
  evmBounded,
  (document, addFault) => {
    const plan = evmPlan('op', document, BigInt(document.min_tip_wei))
    const [l1FeeWei, capL1FeeWei] = [BigInt(document.l1_fee_wei), BigInt(document.cap_l1_fee_wei)]
    if (l1FeeWei > capL1FeeWei) addFault('l1_fee_wei', 'is above cap_l1_fee_wei')
    const ofData = { l1FeeWei: samePerTransfer(l1FeeWei), operatorFeeWei: samePerTransfer(0n) }
    return { ...plan, rates: { ...plan.rates, ...ofData }, guard: { ...plan.guard, capL1FeeWei } }
  },
)

// The sequencer ignores tips. `gas` includes the gas of the L1 part, `l2_gas` does not.
const arbitrum = family(object({ ...evmMembers, l2_gas: perTransfer }), evmBounded, (document) => {
  const plan = evmPlan('arbitrum', document, 0n)
  return { ...plan, guard: { ...plan.guard, l2Gas: bigints(document.l2_gas) } }
})

const accountBytes = integer(1, 1_000_000)
const solana = family(
  object({
    ...commonMembers,
    lamports_per_signature: units,
    signatures: count,
    cu: object({ native: count, spl: count, token2022: count }),
    cu_price_ulamports: units,
    ata_charge: text('^(always|never|0|0?\\.[0-9]{1,6}|1)$'),
    lamports_per_byte: units,
    genesis_hash: solanaKey,
    /** The node reports priority prices of transactions that lock these accounts. */
    priority_accounts: list(solanaKey, 128),
    floor_cu_price_ulamports: units,
    cap_cu_price_ulamports: units,
    ata_bytes: object({ spl: accountBytes, token2022: accountBytes }),
    new_account_min_lamports: units,
  }),
  ['cu_price_ulamports', 'floor_cu_price_ulamports', 'cap_cu_price_ulamports'],
  (document) => {
    const { spl, token2022 } = document.ata_bytes
    // Solana adds 128 bytes to the size of an account when it computes the rent.
    const rent = (bytes: number) => BigInt(bytes + 128) * BigInt(document.lamports_per_byte)
    return {
      ...commonOf(document),
      family: 'solana' as const,
      rates: {
        family: 'solana' as const,
        lamportsPerSignature: BigInt(document.lamports_per_signature),
        signatures: BigInt(document.signatures),
        computeUnits: bigints(document.cu),
        microLamportsPerUnit: BigInt(document.cu_price_ulamports),
        rentPpm: probabilityPpm(document.ata_charge),
        rentLamports: { spl: rent(spl), token2022: rent(token2022) },
      },
      guard: {
        maxHeadAgeSeconds: document.max_head_age_s,
        genesisHash: document.genesis_hash,
        priorityAccounts: document.priority_accounts,
        floorMicroLamports: BigInt(document.floor_cu_price_ulamports),
        capMicroLamports: BigInt(document.cap_cu_price_ulamports),
        accountBytes: document.ata_bytes,
      },
      nativeUnitsMin: anyKind(BigInt(document.new_account_min_lamports)),
    }
  },
)

/** `always`, `never`, or a decimal from 0 to 1 with up to six digits, in millionths. */
function probabilityPpm(given: string): bigint {
  if (given === 'always' || given === '1') return 1_000_000n
  if (given === 'never' || given === '0') return 0n
  return BigInt(given.slice(given.indexOf('.') + 1).padEnd(6, '0'))
}

const stellar = family(
  object({
    ...commonMembers,
    stroops_per_op: units,
    ops: count,
    network_passphrase: Type.String({ minLength: 1, maxLength: 200 }),
    floor_stroops: units,
    cap_stroops: units,
    base_reserve_stroops: units,
  }),
  ['stroops_per_op', 'floor_stroops', 'cap_stroops'],
  (document) => ({
    ...commonOf(document),
    family: 'stellar' as const,
    rates: {
      family: 'stellar' as const,
      stroopsPerOperation: BigInt(document.stroops_per_op),
      operations: BigInt(document.ops),
    },
    guard: {
      maxHeadAgeSeconds: document.max_head_age_s,
      passphrase: document.network_passphrase,
      floorStroops: BigInt(document.floor_stroops),
      capStroops: BigInt(document.cap_stroops),
    },
    // A new account needs two base reserves, and a quote cannot know whether the account exists.
    nativeUnitsMin: anyKind(2n * BigInt(document.base_reserve_stroops)),
  }),
)

const families = {
  utxo: utxo('utxo'),
  bch: utxo('bch'),
  evm,
  op: opStack,
  arbitrum,
  solana,
  stellar,
}

const familyOf = (network: CryptoNetwork) => families[networkTraits[network].family]

/** The document's `networks`. Each has the settings of its family. */
export const networks = object(
  Object.fromEntries(cryptoNetworks.map((network) => [network, familyOf(network).schema])),
)

/** The plan of a network, but for the decimals of its coin; undefined with a fault of form. */
export function readPlan(network: CryptoNetwork, parts: DocumentParts, environment: Environment) {
  const path = ['networks', network]
  const endpoints = parts.readEach([...path, 'rpc'], (part, addFault) =>
    toEndpoint(part as Static<typeof endpoint>, addFault, environment),
  )
  const { bounded, toPlan } = familyOf(network)
  requireBounds(path, bounded, parts)
  const plan = parts.read<ReturnType<typeof toPlan>>(path, toPlan)
  return plan && { ...plan, network, endpoints: [...endpoints.values()] }
}

/** A figure of the schedule must be within the bounds for a node's figure. */
function requireBounds(
  path: readonly string[],
  [rate, floor, cap]: Bounded,
  { read }: DocumentParts,
): void {
  const unitsOf = (part: unknown) => BigInt(part as Static<typeof units>)
  const least = read([...path, floor], unitsOf)
  const most = read([...path, cap], unitsOf)
  read([...path, rate], (part, addFault) => {
    const value = unitsOf(part)
    const isWithin = value >= (least ?? value) && value <= (most ?? value)
    if (!isWithin) addFault('', `is not from ${floor} to ${cap}`)
  })
}

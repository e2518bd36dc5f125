import { Secret } from '../../platform/secret.ts'
import { largest } from '../../values/bounds.ts'
import type { CryptoNetwork } from '../../values/network.ts'
import type { AddressKind } from '../addresses/address-check.ts'
import type { Endpoint, EvmGuard, NetworkPlan, UtxoGuard } from './fee-schedule.ts'
import type {
  ArbitrumDocument,
  EvmDocument,
  NetworkDocuments,
  OpStackDocument,
  SolanaDocument,
  StellarDocument,
  UtxoDocument,
} from './schedule-shape.ts'

export type Environment = Readonly<Record<string, string | undefined>>

type PlanBase = Omit<NetworkPlan, 'family' | 'rates' | 'guard'>
type NamedDocument = { readonly rpc: { readonly url: string; readonly auth_env?: string }[] }

/** Every network's part of a document that has passed its shape. `decimals` are those of the native coins. */
export function readNetworks(
  documents: NetworkDocuments,
  decimals: (network: CryptoNetwork) => number,
  environment: Environment,
): Readonly<Record<CryptoNetwork, NetworkPlan>> {
  const base = (network: CryptoNetwork): PlanBase =>
    readBase(network, documents[network], decimals(network), environment)
  return {
    BITCOIN: readUtxo(documents.BITCOIN, base('BITCOIN')),
    LITECOIN: readUtxo(documents.LITECOIN, base('LITECOIN')),
    BITCOIN_CASH: readBitcoinCash(documents.BITCOIN_CASH, base('BITCOIN_CASH')),
    ETHEREUM: readEvm(documents.ETHEREUM, base('ETHEREUM')),
    POLYGON_POS: readEvm(documents.POLYGON_POS, base('POLYGON_POS')),
    BASE: readOpStack(documents.BASE, base('BASE')),
    INK: readOpStack(documents.INK, base('INK')),
    XLAYER: readOpStack(documents.XLAYER, base('XLAYER')),
    ARBITRUM_ONE: readArbitrum(documents.ARBITRUM_ONE, base('ARBITRUM_ONE')),
    SOLANA: readSolana(documents.SOLANA, base('SOLANA')),
    STELLAR: readStellar(documents.STELLAR, base('STELLAR')),
  }
}

export function readEndpoint(
  given: { readonly url: string; readonly auth_env?: string | undefined },
  environment: Environment,
): Endpoint {
  const value = given.auth_env === undefined ? undefined : environment[given.auth_env]
  const url = given.url.replace(/\/+$/, '')
  return { url, authorization: value === undefined ? undefined : new Secret(value) }
}

function readBase(
  network: CryptoNetwork,
  document: NetworkDocuments[CryptoNetwork],
  nativeDecimals: number,
  environment: Environment,
): PlanBase {
  const { rpc }: NamedDocument = document
  return {
    network,
    native: document.native,
    nativeDecimals,
    marginBasisPoints: BigInt(document.margin_bp),
    refreshSeconds: document.refresh_s,
    maxAgeSeconds: document.max_age_s,
    onStale: document.on_stale,
    endpoints: rpc.map((endpoint) => readEndpoint(endpoint, environment)),
    nativeUnitsMin: () => 1n,
  }
}

function readUtxo(document: UtxoDocument, base: PlanBase): NetworkPlan {
  return {
    ...base,
    family: 'utxo',
    rates: { family: 'utxo', ...readUtxoRates(document) },
    guard: readUtxoGuard(document),
    nativeUnitsMin: dustLimit(document),
  }
}

function readBitcoinCash(document: UtxoDocument, base: PlanBase): NetworkPlan {
  return {
    ...base,
    family: 'bch',
    rates: { family: 'bch', ...readUtxoRates(document) },
    guard: readUtxoGuard(document),
    nativeUnitsMin: dustLimit(document),
  }
}

const readUtxoRates = (document: UtxoDocument) => ({
  ratePerKvb: BigInt(document.rate_per_kvb),
  inputs: BigInt(document.inputs),
  inputVb: BigInt(document.input_vb),
  overheadVb: BigInt(document.overhead_vb),
  changeVb: BigInt(document.change_vb),
})

const readUtxoGuard = (document: UtxoDocument): UtxoGuard => ({
  maxHeadAgeSeconds: document.max_head_age_s,
  chain: document.chain,
  knownBlock: document.known_block,
  confirmationTarget: document.confirmation_target,
  floorPerKvb: BigInt(document.floor_per_kvb),
  capPerKvb: BigInt(document.cap_per_kvb),
})

/** A kind without a limit of its own takes the highest: nodes do not relay an output under its dust limit. */
function dustLimit(document: UtxoDocument): (address: AddressKind) => bigint {
  const limits = new Map(
    Object.entries(document.dust).map(([kind, units]) => [kind, BigInt(units)]),
  )
  const highest = largest(1n, ...limits.values())
  return (address) => limits.get(address) ?? highest
}

function readEvm(document: EvmDocument, base: PlanBase): NetworkPlan {
  return {
    ...base,
    family: 'evm',
    rates: { family: 'evm', ...readGas(document) },
    guard: readEvmGuard(document, BigInt(document.min_tip_wei)),
  }
}

function readOpStack(document: OpStackDocument, base: PlanBase): NetworkPlan {
  const l1FeeWei = BigInt(document.l1_fee_wei)
  return {
    ...base,
    family: 'op',
    rates: {
      family: 'op',
      ...readGas(document),
      l1FeeWei: { native: l1FeeWei, erc20: l1FeeWei },
      operatorFeeWei: { native: 0n, erc20: 0n },
    },
    guard: {
      ...readEvmGuard(document, BigInt(document.min_tip_wei)),
      capL1FeeWei: BigInt(document.cap_l1_fee_wei),
    },
  }
}

function readArbitrum(document: ArbitrumDocument, base: PlanBase): NetworkPlan {
  return {
    ...base,
    family: 'arbitrum',
    rates: { family: 'arbitrum', ...readGas(document) },
    guard: { ...readEvmGuard(document, 0n), l2Gas: readPerTransfer(document.l2_gas) },
  }
}

type GasDocument = EvmDocument | OpStackDocument | ArbitrumDocument

const readGas = (document: GasDocument) => ({
  gasPriceWei: BigInt(document.gas_price_wei),
  gas: readPerTransfer(document.gas),
})

const readPerTransfer = (figures: { native: number; erc20: number }) => ({
  native: BigInt(figures.native),
  erc20: BigInt(figures.erc20),
})

const readEvmGuard = (document: GasDocument, tipWeiMin: bigint): EvmGuard => ({
  maxHeadAgeSeconds: document.max_head_age_s,
  chainId: BigInt(document.chain_id),
  tipWeiMin,
  floorGasPriceWei: BigInt(document.floor_gas_price_wei),
  capGasPriceWei: BigInt(document.cap_gas_price_wei),
})

/** An account's storage overhead, which Solana adds to its data before it asks for rent. */
const accountOverheadBytes = 128

function readSolana(document: SolanaDocument, base: PlanBase): NetworkPlan {
  const rent = (bytes: number): bigint =>
    BigInt(bytes + accountOverheadBytes) * BigInt(document.lamports_per_byte)
  const newAccountUnits = BigInt(document.new_account_min_lamports)
  return {
    ...base,
    family: 'solana',
    rates: {
      family: 'solana',
      lamportsPerSignature: BigInt(document.lamports_per_signature),
      signatures: BigInt(document.signatures),
      computeUnits: {
        native: BigInt(document.cu.native),
        spl: BigInt(document.cu.spl),
        token2022: BigInt(document.cu.token2022),
      },
      microLamportsPerUnit: BigInt(document.cu_price_ulamports),
      rentLamports: {
        spl: rent(document.ata_bytes.spl),
        token2022: rent(document.ata_bytes.token2022),
      },
      rentPpm: readProbability(document.ata_charge),
    },
    guard: {
      maxHeadAgeSeconds: document.max_head_age_s,
      genesisHash: document.genesis_hash,
      priorityAccounts: document.priority_accounts,
      floorMicroLamports: BigInt(document.floor_cu_price_ulamports),
      capMicroLamports: BigInt(document.cap_cu_price_ulamports),
      accountBytes: document.ata_bytes,
    },
    nativeUnitsMin: () => newAccountUnits,
  }
}

/** `always`, `never`, or a decimal from 0 to 1 with up to six digits, in millionths. */
function readProbability(text: string): bigint {
  if (text === 'always' || text === '1') return 1_000_000n
  if (text === 'never' || text === '0') return 0n
  return BigInt(text.slice(text.indexOf('.') + 1).padEnd(6, '0'))
}

/** An account that does not exist yet needs two base reserves; the quote cannot know whether it does. */
function readStellar(document: StellarDocument, base: PlanBase): NetworkPlan {
  const newAccountUnits = 2n * BigInt(document.base_reserve_stroops)
  return {
    ...base,
    family: 'stellar',
    rates: {
      family: 'stellar',
      stroopsPerOperation: BigInt(document.stroops_per_op),
      operations: BigInt(document.ops),
    },
    guard: {
      maxHeadAgeSeconds: document.max_head_age_s,
      passphrase: document.network_passphrase,
      floorStroops: BigInt(document.floor_stroops),
      capStroops: BigInt(document.cap_stroops),
    },
    nativeUnitsMin: () => newAccountUnits,
  }
}

import type { Secret } from '../../platform/secret.ts'
import type { CryptoNetwork } from '../../values/network.ts'
import type { AddressKind } from '../addresses/address-check.ts'
import type { ArbitrumRates } from '../models/arbitrum-model.ts'
import type { AssetKind } from '../models/asset-kind.ts'
import type { BitcoinCashRates } from '../models/bitcoin-cash-model.ts'
import type { EvmRates, PerTransfer } from '../models/evm-model.ts'
import type { OpStackRates } from '../models/op-stack-model.ts'
import type { SolanaRates } from '../models/solana-model.ts'
import type { StellarRates } from '../models/stellar-model.ts'
import type { UtxoRates } from '../models/utxo-model.ts'

/** Prices are whole 1e-18 US dollars per whole coin, which holds every feed's and exchange's figure exactly. */
export const priceDecimals = 18

/** Who vouches for a table: the sample that ships with the program, or the operator, with a date. */
type Origin = 'sample' | 'operator'

export type Dated = {
  readonly origin: Origin
  /** The day the table was made, as `YYYY-MM-DD`, and its first microsecond in UTC. */
  readonly asOf: string
  readonly asOfMicros: bigint
  readonly maxAgeSeconds: number
}

export type Endpoint = {
  readonly url: string
  /** The whole value of the Authorization header. */
  readonly authorization: Secret | undefined
}

/** One (asset, network) pair. Amounts are smallest units of the asset on that network. */
export type AssetPair = {
  readonly asset: string
  readonly network: CryptoNetwork
  readonly kind: AssetKind
  readonly decimals: number
  /** The contract, mint or issuer; a native coin has none. */
  readonly token: string | undefined
  readonly certainty: 'A' | 'B' | 'C' | undefined
  readonly enabled: boolean
  readonly feeIncrementUnits: bigint
  readonly feeUnitsMin: bigint
  readonly amountUnitsMin: bigint
  /** What the token itself takes of a transfer, in millionths of the amount. */
  readonly transferPpm: bigint
}

type NodeGuard = { readonly maxHeadAgeSeconds: number }

export type UtxoGuard = NodeGuard & {
  readonly chain: string
  readonly knownBlock: { readonly height: number; readonly hash: string } | undefined
  readonly confirmationTarget: number
  readonly floorPerKvb: bigint
  readonly capPerKvb: bigint
}

export type EvmGuard = NodeGuard & {
  readonly chainId: bigint
  readonly tipWeiMin: bigint
  readonly floorGasPriceWei: bigint
  readonly capGasPriceWei: bigint
}

type OpStackGuard = EvmGuard & { readonly capL1FeeWei: bigint }
type ArbitrumGuard = EvmGuard & { readonly l2Gas: PerTransfer }

type SolanaGuard = NodeGuard & {
  readonly genesisHash: string
  /** Accounts that a withdrawal locks; the priority prices of transactions that lock them too are asked for. */
  readonly priorityAccounts: readonly string[]
  readonly floorMicroLamports: bigint
  readonly capMicroLamports: bigint
  readonly accountBytes: { readonly spl: number; readonly token2022: number }
}

type StellarGuard = NodeGuard & {
  readonly passphrase: string
  readonly floorStroops: bigint
  readonly capStroops: bigint
}

type PlanBase = {
  readonly network: CryptoNetwork
  readonly native: string
  readonly nativeDecimals: number
  readonly marginBasisPoints: bigint
  readonly refreshSeconds: number
  readonly maxAgeSeconds: number
  /** What serves once every node's figure is older than `maxAgeSeconds`: the schedule's figure, or nothing. */
  readonly onStale: 'schedule' | 'fail'
  readonly endpoints: readonly Endpoint[]
  /** The least that can be sent of the native coin, by the address it goes to; 1 unit where none is given. */
  readonly nativeUnitsMin: (address: AddressKind) => bigint
}

/** What one network costs by the schedule (`rates`), and what a node's answer is held against (`guard`). */
export type NetworkPlan = PlanBase &
  (
    | { readonly family: 'utxo'; readonly rates: UtxoRates; readonly guard: UtxoGuard }
    | { readonly family: 'bch'; readonly rates: BitcoinCashRates; readonly guard: UtxoGuard }
    | { readonly family: 'evm'; readonly rates: EvmRates; readonly guard: EvmGuard }
    | { readonly family: 'op'; readonly rates: OpStackRates; readonly guard: OpStackGuard }
    | { readonly family: 'arbitrum'; readonly rates: ArbitrumRates; readonly guard: ArbitrumGuard }
    | { readonly family: 'solana'; readonly rates: SolanaRates; readonly guard: SolanaGuard }
    | { readonly family: 'stellar'; readonly rates: StellarRates; readonly guard: StellarGuard }
  )

export type PlanOf<F extends NetworkPlan['family']> = Extract<NetworkPlan, { family: F }>

export type PriceSource =
  | {
      readonly kind: 'chainlink'
      readonly network: CryptoNetwork
      readonly maxAgeSeconds: number
      readonly feeds: ReadonlyMap<string, string>
    }
  | {
      readonly kind: 'http'
      readonly endpoint: Endpoint
      readonly maxAgeSeconds: number
      readonly pricePointer: string
      readonly timePointer: string | undefined
      /** Our symbol to the word that stands for `{symbol}` in the URL. */
      readonly symbols: ReadonlyMap<string, string>
    }

export type TablePrice = { readonly usd: bigint; readonly origin: Origin }

/** The schedule in force: the embedded one with the operator's overrides merged over it, read and checked. */
export type FeeSchedule = {
  readonly costs: Dated
  readonly prices: Dated
  readonly priceTable: ReadonlyMap<string, TablePrice>
  readonly priceSources: readonly PriceSource[]
  readonly pegged: ReadonlySet<string>
  readonly quote: { readonly ttlSeconds: number; readonly fxMarginBasisPoints: bigint }
  readonly networks: Readonly<Record<CryptoNetwork, NetworkPlan>>
  /** By network, then by asset; pairs that are off are in it too. */
  readonly pairs: ReadonlyMap<CryptoNetwork, ReadonlyMap<string, AssetPair>>
}

import { largest } from '../../values/bounds.ts'
import { parseDecimal } from '../../values/decimal.ts'
import { type CryptoNetwork, cryptoNetworks, isCryptoNetwork } from '../../values/network.ts'
import embedded from './fee-schedule.json' with { type: 'json' }
import {
  type AssetPair,
  type Dated,
  type FeeSchedule,
  type PriceSource,
  priceDecimals,
  type TablePrice,
} from './fee-schedule.ts'
import { type Environment, readEndpoint, readNetworks } from './read-network.ts'
import { scheduleFaults } from './schedule-faults.ts'
import { type AssetDocument, type ScheduleDocument, scheduleShape } from './schedule-shape.ts'
import { shapeFaultsOf } from './shape-faults.ts'

export type ReadSchedule =
  | { readonly ok: true; readonly schedule: FeeSchedule }
  | { readonly ok: false; readonly faults: readonly string[] }

/**
 * The embedded schedule with an operator's document merged over it: objects deeply, arrays and texts whole.
 *
 * `overrides` is parsed JSON, `{}` for none; `environment` is where `auth_env` names are looked up. Every fault
 * is named at once, each with its path. The document's own `as_of` and `prices_as_of` are what make its costs
 * and prices the operator's; figures that it leaves out stay the sample's (see docs/fees.md).
 */
export function readSchedule(overrides: unknown, environment: Environment = {}): ReadSchedule {
  if (!isPlainObject(overrides))
    return { ok: false, faults: ['the document must be a JSON object'] }
  const merged = mergeOver(embedded, overrides)
  const shapeFaults = shapeFaultsOf(scheduleShape, merged)
  if (shapeFaults.length > 0) return { ok: false, faults: shapeFaults }
  const document = merged as ScheduleDocument
  const faults = scheduleFaults(document, overrides, environment)
  if (faults.length > 0) return { ok: false, faults }
  return { ok: true, schedule: readDocument(document, overrides, environment) }
}

type PlainObject = Readonly<Record<string, unknown>>

const isPlainObject = (value: unknown): value is PlainObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function mergeOver(base: PlainObject, over: PlainObject): PlainObject {
  const merged = new Map<string, unknown>(Object.entries(base))
  for (const [key, value] of Object.entries(over)) {
    const below = merged.get(key)
    merged.set(key, isPlainObject(below) && isPlainObject(value) ? mergeOver(below, value) : value)
  }
  return Object.fromEntries(merged)
}

function readDocument(
  document: ScheduleDocument,
  overrides: PlainObject,
  environment: Environment,
): FeeSchedule {
  const nativeDecimals = (network: CryptoNetwork): number =>
    document.assets[network]?.[document.networks[network].native]?.decimals ?? 0
  const ownCosts = Object.hasOwn(overrides, 'as_of')
  const ownPrices = Object.hasOwn(overrides, 'prices_as_of')
  return {
    costs: readDated(document.as_of, document.schedule_max_age_days, ownCosts),
    prices: readDated(document.prices_as_of, document.prices_max_age_days, ownPrices),
    priceTable: readPriceTable(document, ownPrices ? overrides.prices_usd : undefined),
    priceSources: document.price_sources.map((source) => readPriceSource(source, environment)),
    pegged: new Set(document.pegged_usd),
    quote: {
      ttlSeconds: document.quote.ttl_s,
      fxMarginBasisPoints: BigInt(document.quote.fx_margin_bp),
    },
    networks: readNetworks(document.networks, nativeDecimals, environment),
    pairs: new Map(cryptoNetworks.map((network) => [network, readPairs(network, document)])),
  }
}

function readDated(asOf: string, maxAgeDays: number, isOwn: boolean): Dated {
  return {
    origin: isOwn ? 'operator' : 'sample',
    asOf,
    asOfMicros: BigInt(Date.parse(`${asOf}T00:00:00Z`)) * 1_000n,
    maxAgeSeconds: maxAgeDays * 86_400,
  }
}

/** A price that the operator's table leaves out is still the sample's, however new that table is. */
function readPriceTable(
  { prices_usd }: ScheduleDocument,
  own: unknown,
): ReadonlyMap<string, TablePrice> {
  const isOwn = (symbol: string): boolean => isPlainObject(own) && Object.hasOwn(own, symbol)
  return new Map(
    Object.entries(prices_usd).map(([symbol, text]) => [
      symbol,
      { usd: unitsOf(text, priceDecimals), origin: isOwn(symbol) ? 'operator' : 'sample' },
    ]),
  )
}

function readPriceSource(
  source: ScheduleDocument['price_sources'][number],
  environment: Environment,
): PriceSource {
  if (source.kind === 'chainlink') {
    const network = isCryptoNetwork(source.network) ? source.network : 'ETHEREUM'
    const feeds = new Map(Object.entries(source.feeds))
    return { kind: 'chainlink', network, maxAgeSeconds: source.max_age_s, feeds }
  }
  return {
    kind: 'http',
    endpoint: readEndpoint(source, environment),
    maxAgeSeconds: source.max_age_s,
    pricePointer: source.price_pointer,
    timePointer: source.time_pointer,
    symbols: new Map(Object.entries(source.symbols)),
  }
}

function readPairs(
  network: CryptoNetwork,
  document: ScheduleDocument,
): ReadonlyMap<string, AssetPair> {
  const assets = Object.entries(document.assets[network] ?? {})
  return new Map(assets.map(([asset, given]) => [asset, readPair(network, asset, given)]))
}

function readPair(network: CryptoNetwork, asset: string, given: AssetDocument): AssetPair {
  const amountUnitsMin = unitsOf(given.min_amount ?? '0', given.decimals)
  const isSure = given.kind === 'native' || given.certainty === 'A'
  return {
    asset,
    network,
    kind: given.kind,
    decimals: given.decimals,
    token: given.contract ?? given.mint ?? given.issuer,
    certainty: given.certainty,
    enabled: given.enabled ?? isSure,
    feeIncrementUnits: unitsOf(given.fee_increment, given.decimals),
    feeUnitsMin: unitsOf(given.min_fee, given.decimals),
    amountUnitsMin: largest(amountUnitsMin, 1n),
    transferPpm: BigInt(given.token_transfer_ppm ?? 0),
  }
}

/** Text that `scheduleFaults` has already parsed with the same decimals. */
function unitsOf(text: string, decimals: number): bigint {
  const parsed = parseDecimal(text, decimals)
  return parsed.ok ? parsed.units : 0n
}

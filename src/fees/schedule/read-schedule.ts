import { Type } from 'typebox'
import { limits } from '../../platform/limits.ts'
import { parseInstant } from '../../values/instant.ts'
import { type CryptoNetwork, cryptoNetworks, isCryptoNetwork } from '../../values/network.ts'
import { traitsOf } from '../networks.ts'
import { type AssetPair, pairs } from './asset-pair.ts'
import {
  convert,
  type Environment,
  fault,
  from,
  isPlainObject,
  leaf,
  list,
  object,
  optional,
  type Reader,
  record,
  type ValueOf,
} from './document-reader.ts'
import embedded from './fee-schedule.json' with { type: 'json' }
import { type NetworkPlan, networks } from './network-plan.ts'
import {
  basisPoints,
  decimalText,
  endpointShape,
  evmAddress,
  integer,
  positiveUnits,
  symbol,
  text,
  toEndpoint,
} from './readers.ts'

/** The operator's document merged over the embedded one, checked and converted. */
export type FeeSchedule = Readonly<ReturnType<typeof toSchedule>>
export type Dated = Readonly<ReturnType<typeof toDated>>

/** Prices are in 1e-18 US dollars a coin, which represents every source's figures exactly. */
export const priceDecimals = 18

/** Chainlink feeds, read through a network's nodes, or an HTTP API. */
export type PriceSource = ValueOf<typeof chainlinkSource> | ValueOf<typeof httpSource>

export type ReadSchedule =
  | { readonly ok: true; readonly schedule: FeeSchedule }
  | { readonly ok: false; readonly faults: readonly string[] }

/**
 * Merges an operator's parsed document over the embedded schedule and reads the result. Objects
 * merge deeply, lists and texts replace. All faults of values are named at once; references are
 * checked after that. Only costs and prices that `overrides` dates count as the operator's.
 */
export function readSchedule(overrides: unknown, environment: Environment = {}): ReadSchedule {
  if (!isPlainObject(overrides))
    return { ok: false, faults: ['the document must be a JSON object'] }
  const faults: string[] = []
  // Prices without a date of their own would count as old as the sample's.
  if (Object.hasOwn(overrides, 'prices_usd') && !Object.hasOwn(overrides, 'prices_as_of')) {
    faults.push('prices_as_of must say which day prices_usd are of')
  }
  const document = scheduleDocument(mergeOver(embedded, overrides), '', { environment, faults })
  if (document !== undefined) faults.push(...referenceFaults(document.value))
  if (document === undefined || faults.length > 0) return { ok: false, faults }
  return { ok: true, schedule: toSchedule(document.value, overrides) }
}

type PlainObject = Readonly<Record<string, unknown>>

function mergeOver(base: PlainObject, over: PlainObject): PlainObject {
  const merged = new Map<string, unknown>(Object.entries(base))
  for (const [key, value] of Object.entries(over)) {
    const below = merged.get(key)
    merged.set(key, isPlainObject(below) && isPlainObject(value) ? mergeOver(below, value) : value)
  }
  return Object.fromEntries(merged)
}

const day = convert(leaf(Type.String()), (asOf, addFault) => {
  const midnight = parseInstant(`${asOf}T00:00:00Z`)
  if (midnight === undefined) addFault('', 'must be a day that exists, as YYYY-MM-DD')
  return { asOf, asOfMicros: midnight?.micros ?? 0n }
})

const price = convert(decimalText, (given, addFault) =>
  positiveUnits(given, priceDecimals, '', addFault),
)

const priceSource: Reader<PriceSource> = (given, path, pass) => {
  const isHttp = isPlainObject(given) && given.kind === 'http'
  return (isHttp ? httpSource : chainlinkSource)(given, path, pass)
}

const evmNetwork: Reader<CryptoNetwork> = (given, path, pass) =>
  isCryptoNetwork(given) && 'erc20' in traitsOf(given).tokenMembers
    ? { value: given }
    : fault(pass, `${path} must be an EVM network`)

const chainlinkSource = object({
  kind: leaf(Type.Literal('chainlink')),
  network: evmNetwork,
  maxAgeSeconds: from('max_age_s', integer(1, 86_400 * 2)),
  /** Contract addresses by symbol. */
  feeds: record(() => evmAddress),
})

const pointer = text('^(/[^/]*)+$')
const httpSource = convert(
  object({
    ...endpointShape,
    kind: leaf(Type.Literal('http')),
    maxAgeSeconds: from('max_age_s', integer(1, 86_400)),
    pricePointer: from('price_pointer', pointer),
    timePointer: from('time_pointer', optional(pointer)),
    /** By our symbol, the text that replaces `{symbol}` in the URL. */
    symbols: record(() => text('^[A-Za-z0-9._:-]{1,40}$')),
  }),
  ({ url, auth_env, ...source }, addFault, environment) => {
    if (!url.includes('{symbol}')) addFault('url', 'must hold {symbol}')
    return { ...source, endpoint: toEndpoint({ url, auth_env }, addFault, environment) }
  },
)

/** The whole document, after the operator's was merged over the embedded one. */
const scheduleDocument = object({
  as_of: day,
  prices_as_of: day,
  note: optional(leaf(Type.String())),
  schedule_max_age_days: integer(1, 3_650),
  prices_max_age_days: integer(1, 3_650),
  quote: object({
    ttlSeconds: from('ttl_s', integer(60, limits.quoteLifeSecondsMax)),
    fxMarginBasisPoints: from('fx_margin_bp', basisPoints),
  }),
  pegged_usd: list(symbol, 100),
  prices_usd: record(() => price),
  price_sources: list(priceSource, 8),
  networks,
  assets: pairs,
})
type ScheduleDocument = ValueOf<typeof scheduleDocument>

/** Names in one part of the document that another part has to hold. */
function referenceFaults(document: ScheduleDocument): string[] {
  const { networks: plans, assets, prices_usd: prices, price_sources: sources } = document
  const faults: string[] = []
  for (const network of cryptoNetworks) {
    const { native } = plans[network]
    const pairs = assets.get(network)
    if (pairs?.has(native) !== true) faults.push(`assets.${network}.${native} is missing`)
    for (const { asset, kind } of pairs?.values() ?? []) {
      const path = `assets.${network}.${asset}`
      if ((asset === native) !== (kind === 'native')) {
        faults.push(`${path}.kind must be native for the network's own coin and for nothing else`)
      } else if (kind !== 'native' && !(prices.has(asset) && prices.has(native))) {
        faults.push(`prices_usd must hold ${asset} and ${native}, for ${path}`)
      }
    }
  }
  for (const [index, source] of sources.entries()) {
    if (source.kind === 'chainlink' && plans[source.network].endpoints.length === 0) {
      faults.push(`price_sources.${index}.network needs networks.${source.network}.rpc`)
    }
  }
  return faults
}

function toSchedule(document: ScheduleDocument, overrides: PlainObject) {
  const ownsCosts = Object.hasOwn(overrides, 'as_of')
  const ownsPrices = Object.hasOwn(overrides, 'prices_as_of')
  const ownPrices = isPlainObject(overrides.prices_usd) ? overrides.prices_usd : {}
  const pairsOf = (network: CryptoNetwork) =>
    document.assets.get(network) ?? new Map<string, AssetPair>()
  const plans = cryptoNetworks.map((network) => {
    const plan = document.networks[network]
    const nativeDecimals = pairsOf(network).get(plan.native)?.decimals ?? 0
    return [network, { ...plan, network, nativeDecimals }] as const
  })
  const priced = [...document.prices_usd].map(([asset, usd]) => {
    // A price that the operator leaves out stays the sample's, however new the operator's date is.
    const isOwn = ownsPrices && Object.hasOwn(ownPrices, asset)
    return [asset, { usd, origin: originOf(isOwn) }] as const
  })
  return {
    costs: toDated(document.as_of, document.schedule_max_age_days, ownsCosts),
    prices: toDated(document.prices_as_of, document.prices_max_age_days, ownsPrices),
    /** In 1e-18 US dollars a coin. */
    priceTable: new Map(priced),
    priceSources: document.price_sources,
    pegged: new Set(document.pegged_usd),
    quote: document.quote,
    networks: Object.fromEntries(plans) as Readonly<Record<CryptoNetwork, NetworkPlan>>,
    /** By network, then by asset. Disabled pairs are included. */
    pairs: new Map(cryptoNetworks.map((network) => [network, pairsOf(network)])),
  }
}

/** Whether figures are the operator's or the sample's, which ships with the program. */
const originOf = (isOwn: boolean) => (isOwn ? 'operator' : 'sample')

/** Figures of a day in UTC: `asOf` is its text, as `YYYY-MM-DD`, `asOfMicros` its first instant. */
const toDated = (figuresOf: ValueOf<typeof day>, maxAgeDays: number, isOwn: boolean) => ({
  ...figuresOf,
  origin: originOf(isOwn),
  maxAgeSeconds: maxAgeDays * 86_400,
})

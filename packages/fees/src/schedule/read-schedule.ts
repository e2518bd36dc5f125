import {
  baseLimits,
  type CryptoNetwork,
  cryptoNetworks,
  parseDecimal,
  parseInstant,
} from '@bursar/base'
import { type Static, Type } from 'typebox'
import { traitsOf } from '../networks.ts'
import { assets, readPairs } from './asset-pair.ts'
import {
  type AddFault,
  type DocumentParts,
  documentParts,
  type Environment,
  isPlainObject,
} from './document-parts.ts'
import embedded from './fee-schedule.json' with { type: 'json' }
import { type NetworkPlan, networks, readPlan } from './network-plan.ts'
import {
  basisPoints,
  decimalText,
  endpointMembers,
  evmAddress,
  integer,
  list,
  object,
  record,
  symbol,
  text,
  toEndpoint,
} from './schedule-members.ts'

/** The operator's document merged over the embedded one, checked and converted. */
export type FeeSchedule = Readonly<ReturnType<typeof toSchedule>>
export type Dated = Readonly<ReturnType<typeof toDated>>

/** Prices are in 1e-18 US dollars a coin, which represents every source's figures exactly. */
export const priceDecimals = 18

/** Chainlink feeds, read through a network's nodes, or an HTTP API. */
export type PriceSource = ReturnType<typeof toPriceSource>

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
  const parts = documentParts(scheduleDocument, mergeOver(embedded, overrides))
  const read = readParts(parts, environment)
  const faults = [...parts.faults()]
  if (faults.length === 0) faults.push(...referenceFaults(read))
  // Prices without their own date would count as old as the sample's.
  if (Object.hasOwn(overrides, 'prices_usd') && !Object.hasOwn(overrides, 'prices_as_of')) {
    faults.unshift('prices_as_of must say which day prices_usd are of')
  }
  const schedule =
    faults.length > 0
      ? undefined
      : parts.read([], (document) => toSchedule(document as ScheduleDocument, read, overrides))
  return schedule === undefined ? { ok: false, faults } : { ok: true, schedule }
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

const day = Type.Refine(
  Type.String({ maxLength: baseLimits.configurationTextLengthMax }),
  (asOf) => parseInstant(midnightOf(asOf)) !== undefined,
  () => 'must be a day that exists, as YYYY-MM-DD',
)

const midnightOf = (asOf: string): string => `${asOf}T00:00:00Z`

const price = Type.Refine(
  decimalText,
  (given) => priceUnits(given) > 0n,
  () => `must be above 0, with at most ${priceDecimals} decimals`,
)

function priceUnits(given: string): bigint {
  const parsed = parseDecimal(given, priceDecimals)
  return parsed.ok ? parsed.units : 0n
}

const evmNetworks = cryptoNetworks.filter((network) => 'erc20' in traitsOf(network).tokenMembers)
const noEvmNetwork = 'must be an EVM network'

const chainlinkSource = object({
  kind: Type.Literal('chainlink'),
  network: Type.Enum(evmNetworks, { reason: noEvmNetwork, missing: noEvmNetwork }),
  max_age_s: integer(1, 86_400 * 2),
  /** Contract addresses by symbol. */
  feeds: record(evmAddress),
})

const pointer = text('^(/[^/]*)+$')
const httpSource = object({
  ...endpointMembers,
  kind: Type.Literal('http'),
  max_age_s: integer(1, 86_400),
  price_pointer: pointer,
  time_pointer: Type.Optional(pointer),
  /** By our symbol, the text that replaces `{symbol}` in the URL. */
  symbols: record(text('^[A-Za-z0-9._:-]{1,40}$')),
})

type PriceSourceDocument = Static<typeof chainlinkSource> | Static<typeof httpSource>

const isHttp = Type.Object({ kind: Type.Literal('http') })
/** Each kind has its own members. The library reports the faults of `else` only. */
const priceSource = Type.Unsafe<PriceSourceDocument>({
  allOf: [
    { if: isHttp, else: chainlinkSource },
    { if: { not: isHttp }, else: httpSource },
  ],
})

function toPriceSource(document: PriceSourceDocument, addFault: AddFault, env: Environment) {
  const { kind, max_age_s: maxAgeSeconds } = document
  if (kind === 'chainlink') {
    const feeds = new Map(Object.entries(document.feeds))
    return { kind, network: document.network, maxAgeSeconds, feeds }
  }
  if (!document.url.includes('{symbol}')) addFault('url', 'must hold {symbol}')
  return {
    kind,
    maxAgeSeconds,
    pricePointer: document.price_pointer,
    timePointer: document.time_pointer,
    symbols: new Map(Object.entries(document.symbols)),
    endpoint: toEndpoint(document, addFault, env),
  }
}

/** The whole document, after the operator's was merged over the embedded one. */
const scheduleDocument = object({
  as_of: day,
  prices_as_of: day,
  note: Type.Optional(Type.String({ maxLength: baseLimits.configurationTextLengthMax })),
  schedule_max_age_days: integer(1, 3_650),
  prices_max_age_days: integer(1, 3_650),
  quote: object({ ttl_s: integer(60, baseLimits.quoteLifeSecondsMax), fx_margin_bp: basisPoints }),
  pegged_usd: list(symbol, 100),
  prices_usd: record(price),
  price_sources: list(priceSource, 8),
  networks,
  assets,
})
type ScheduleDocument = Static<typeof scheduleDocument>

/** The parts of the document that have rules between their members. */
function readParts(parts: DocumentParts, environment: Environment) {
  const sources = parts.readEach(['price_sources'], (part, addFault) =>
    toPriceSource(part as PriceSourceDocument, addFault, environment),
  )
  const prices = parts.readEach(['prices_usd'], (part) => priceUnits(String(part)))
  const plans = cryptoNetworks.flatMap((network) => readPlan(network, parts, environment) ?? [])
  const pairs = new Map(cryptoNetworks.map((network) => [network, readPairs(network, parts)]))
  return { sources: [...sources.values()], prices, plans, pairs }
}
type Parts = ReturnType<typeof readParts>

/** Names in one part of the document that another part has to hold. */
function referenceFaults({ plans, pairs, prices, sources }: Parts): string[] {
  const faults: string[] = []
  for (const { network, native } of plans) {
    const own = pairs.get(network)
    if (own?.has(native) !== true) faults.push(`assets.${network}.${native} is missing`)
    for (const { asset, kind } of own?.values() ?? []) {
      const path = `assets.${network}.${asset}`
      if ((asset === native) !== (kind === 'native')) {
        faults.push(`${path}.kind must be native for the network's own coin and for nothing else`)
      } else if (kind !== 'native' && !(prices.has(asset) && prices.has(native))) {
        faults.push(`prices_usd must hold ${asset} and ${native}, for ${path}`)
      }
    }
  }
  for (const [index, source] of sources.entries()) {
    const isRead = plans.some(
      ({ network, endpoints }) =>
        source.kind === 'chainlink' && network === source.network && endpoints.length > 0,
    )
    if (source.kind === 'chainlink' && !isRead) {
      faults.push(`price_sources.${index}.network needs networks.${source.network}.rpc`)
    }
  }
  return faults
}

function toSchedule(document: ScheduleDocument, parts: Parts, overrides: PlainObject) {
  const ownsCosts = Object.hasOwn(overrides, 'as_of')
  const ownsPrices = Object.hasOwn(overrides, 'prices_as_of')
  const ownPrices = isPlainObject(overrides.prices_usd) ? overrides.prices_usd : {}
  const plans = parts.plans.map((plan): readonly [CryptoNetwork, NetworkPlan] => {
    const nativeDecimals = parts.pairs.get(plan.network)?.get(plan.native)?.decimals ?? 0
    return [plan.network, { ...plan, nativeDecimals }]
  })
  const priced = [...parts.prices].map(([asset, usd]) => {
    // A price that the operator leaves out stays the sample's, however new the operator's date is.
    const isOwn = ownsPrices && Object.hasOwn(ownPrices, asset)
    return [asset, { usd, origin: originOf(isOwn) }] as const
  })
  return {
    costs: toDated(document.as_of, document.schedule_max_age_days, ownsCosts),
    prices: toDated(document.prices_as_of, document.prices_max_age_days, ownsPrices),
    /** In 1e-18 US dollars a coin. */
    priceTable: new Map(priced),
    priceSources: parts.sources,
    pegged: new Set(document.pegged_usd),
    quote: {
      ttlSeconds: document.quote.ttl_s,
      fxMarginBasisPoints: BigInt(document.quote.fx_margin_bp),
    },
    networks: Object.fromEntries(plans) as Readonly<Record<CryptoNetwork, NetworkPlan>>,
    /** By network, then by asset. Disabled pairs are included. */
    pairs: parts.pairs,
  }
}

/** Whether figures are the operator's or the sample's, which ships with the program. */
const originOf = (isOwn: boolean) => (isOwn ? 'operator' : 'sample')

/** Figures of a day in UTC: `asOf` is its text, as `YYYY-MM-DD`, `asOfMicros` its first instant. */
const toDated = (asOf: string, maxAgeDays: number, isOwn: boolean) => ({
  asOf,
  asOfMicros: parseInstant(midnightOf(asOf))?.micros ?? 0n,
  origin: originOf(isOwn),
  maxAgeSeconds: maxAgeDays * 86_400,
})

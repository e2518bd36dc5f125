import Type from 'typebox'
import { type CryptoNetwork, cryptoNetworks } from '../../values/network.ts'
import { type AssetPair, pairs } from './asset-pair.ts'
import {
  convert,
  type Environment,
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
import type { Dated, FeeSchedule } from './fee-schedule.ts'
import { networks } from './network-plan.ts'
import { price, priceSource } from './price-source.ts'
import { basisPoints, integer, symbol } from './schedule-values.ts'

export type ReadSchedule =
  | { readonly ok: true; readonly schedule: FeeSchedule }
  | { readonly ok: false; readonly faults: readonly string[] }

/**
 * Merges an operator's document over the embedded schedule and reads the result.
 *
 * `overrides` is parsed JSON, `{}` for none. Objects merge deeply, lists and texts replace. Every
 * fault of the document's values is named at once, each with its path; references between them are
 * checked after that. Costs and prices count as the operator's only where `overrides` dates them
 * (see docs/fees.md).
 */
export function readSchedule(overrides: unknown, environment: Environment = {}): ReadSchedule {
  if (!isPlainObject(overrides)) {
    return { ok: false, faults: ['the document must be a JSON object'] }
  }
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

const day: Reader<string> = convert(leaf(Type.String()), (given, addFault) => {
  const parsed = new Date(`${given}T00:00:00Z`)
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(given) && !Number.isNaN(parsed.getTime())
  if (!isDay || !parsed.toISOString().startsWith(given)) {
    addFault('', 'must be a day that exists, as YYYY-MM-DD')
  }
  return given
})

/** The whole document, after the operator's was merged over the embedded one. */
const documentShape = {
  as_of: day,
  prices_as_of: day,
  note: optional(leaf(Type.String())),
  schedule_max_age_days: integer(1, 3_650),
  prices_max_age_days: integer(1, 3_650),
  quote: object({
    ttlSeconds: from('ttl_s', integer(60, 900)),
    fxMarginBasisPoints: from('fx_margin_bp', basisPoints),
  }),
  pegged_usd: list(symbol, 100),
  prices_usd: record(() => price),
  price_sources: list(priceSource, 8),
  networks,
  assets: pairs,
}
type ScheduleDocument = ValueOf<typeof documentShape>
const scheduleDocument = object(documentShape)

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

function toSchedule(document: ScheduleDocument, overrides: PlainObject): FeeSchedule {
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
  return {
    costs: toDated(document.as_of, document.schedule_max_age_days, ownsCosts),
    prices: toDated(document.prices_as_of, document.prices_max_age_days, ownsPrices),
    // A price that the operator leaves out stays the sample's, however new the operator's date is.
    priceTable: new Map(
      [...document.prices_usd].map(([asset, usd]) => {
        const origin = ownsPrices && Object.hasOwn(ownPrices, asset) ? 'operator' : 'sample'
        return [asset, { usd, origin }]
      }),
    ),
    priceSources: document.price_sources,
    pegged: new Set(document.pegged_usd),
    quote: document.quote,
    networks: Object.fromEntries(plans) as FeeSchedule['networks'],
    pairs: new Map(cryptoNetworks.map((network) => [network, pairsOf(network)])),
  }
}

const toDated = (asOf: string, maxAgeDays: number, isOwn: boolean): Dated => ({
  origin: isOwn ? 'operator' : 'sample',
  asOf,
  asOfMicros: BigInt(Date.parse(`${asOf}T00:00:00Z`)) * 1_000n,
  maxAgeSeconds: maxAgeDays * 86_400,
})

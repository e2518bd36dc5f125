import { parseDecimal } from '../../values/decimal.ts'
import { type CryptoNetwork, cryptoNetworks, isCryptoNetwork } from '../../values/network.ts'
import { checkAddress } from '../addresses/check-address.ts'
import type { AssetKind } from '../models/asset-kind.ts'
import { priceDecimals } from './fee-schedule.ts'
import type { Environment } from './read-network.ts'
import type { AssetDocument, ScheduleDocument, Units } from './schedule-shape.ts'

const tokenKinds: Readonly<Record<CryptoNetwork, readonly AssetKind[]>> = {
  BITCOIN: [],
  LITECOIN: [],
  BITCOIN_CASH: [],
  ETHEREUM: ['erc20'],
  POLYGON_POS: ['erc20'],
  BASE: ['erc20'],
  ARBITRUM_ONE: ['erc20'],
  INK: ['erc20'],
  XLAYER: ['erc20'],
  SOLANA: ['spl', 'token2022'],
  STELLAR: ['trustline'],
}

/** Where a token of each kind is written down. */
const places = { erc20: 'contract', spl: 'mint', token2022: 'mint', trustline: 'issuer' } as const

/** What the shape cannot say: figures that must fit one another, names that must exist. One line a fault. */
export function scheduleFaults(
  document: ScheduleDocument,
  overrides: Readonly<Record<string, unknown>>,
  environment: Environment,
): string[] {
  return [
    ...dateFaults(document, overrides),
    ...Object.entries(document.prices_usd).flatMap(([symbol, text]) =>
      positiveFaults(`prices_usd.${symbol}`, text, priceDecimals),
    ),
    ...assetFaults(document),
    ...boundFaults(document),
    ...environmentFaults(document, environment),
    ...document.price_sources.flatMap((source, index) =>
      priceSourceFaults(source, index, document),
    ),
  ]
}

function dateFaults(
  document: ScheduleDocument,
  overrides: Readonly<Record<string, unknown>>,
): string[] {
  const faults = (['as_of', 'prices_as_of'] as const)
    .filter((name) => !isDay(document[name]))
    .map((name) => `${name} must be a day that exists, as YYYY-MM-DD`)
  // Prices without a date of their own would pass for as old as the sample's.
  if (Object.hasOwn(overrides, 'prices_usd') && !Object.hasOwn(overrides, 'prices_as_of')) {
    faults.push('prices_as_of must say which day prices_usd are of')
  }
  return faults
}

const isDay = (text: string): boolean => {
  const parsed = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text)
}

function assetFaults(document: ScheduleDocument): string[] {
  return Object.entries(document.assets).flatMap(([network, assets]) => {
    if (!isCryptoNetwork(network)) return [`assets.${network} is no network`]
    const { native } = document.networks[network]
    const missing =
      assets[native]?.kind === 'native' ? [] : [`assets.${network}.${native} is missing`]
    const faults = Object.entries(assets).flatMap(([asset, given]) =>
      pairFaults(`assets.${network}.${asset}`, network, asset === native, given).concat(
        isPriced(document, network, given.kind, asset)
          ? []
          : [`prices_usd must hold ${asset} and ${native}, for assets.${network}.${asset}`],
      ),
    )
    return [...missing, ...faults]
  })
}

function isPriced(
  { prices_usd, networks }: ScheduleDocument,
  network: CryptoNetwork,
  kind: AssetKind,
  asset: string,
): boolean {
  if (kind === 'native') return true
  return Object.hasOwn(prices_usd, asset) && Object.hasOwn(prices_usd, networks[network].native)
}

function pairFaults(
  path: string,
  network: CryptoNetwork,
  isNative: boolean,
  given: AssetDocument,
): string[] {
  const faults = positiveFaults(`${path}.fee_increment`, given.fee_increment, given.decimals)
  for (const name of ['min_fee', 'min_amount'] as const) {
    const text = given[name]
    if (text !== undefined && !parseDecimal(text, given.decimals).ok) {
      faults.push(`${path}.${name} has more decimals than the asset's ${given.decimals}`)
    }
  }
  if (isNative !== (given.kind === 'native')) {
    faults.push(`${path}.kind must be native for the network's own coin and for nothing else`)
  } else if (given.kind !== 'native') {
    faults.push(...tokenFaults(path, network, given, given.kind))
  }
  return faults
}

function tokenFaults(
  path: string,
  network: CryptoNetwork,
  given: AssetDocument,
  kind: Exclude<AssetKind, 'native'>,
): string[] {
  if (!tokenKinds[network].includes(kind)) return [`${path}.kind does not exist on ${network}`]
  const faults = given.certainty === undefined ? [`${path}.certainty must be A, B or C`] : []
  const address = given[places[kind]]
  if (address === undefined) return [...faults, `${path}.${places[kind]} is missing`]
  const check = checkAddress(network, address)
  // A token's own contract is what the address policy refuses as a destination; here it is what is wanted.
  const isSound = check.valid || check.reason === 'token_contract'
  return isSound ? faults : [...faults, `${path}.${places[kind]} is wrong: ${check.detail}`]
}

function positiveFaults(path: string, text: string, decimals: number): string[] {
  const parsed = parseDecimal(text, decimals)
  return parsed.ok && parsed.units > 0n
    ? []
    : [`${path} must be above 0, with at most ${decimals} decimals`]
}

/** The scheduled figure must itself pass the floor and the cap that a node's figure is held to. */
function boundFaults({ networks }: ScheduleDocument): string[] {
  return cryptoNetworks.flatMap((network) => {
    const given: Readonly<Record<string, unknown>> = networks[network]
    return rateNames.flatMap(([rate, floor, cap]) => {
      if (given[rate] === undefined) return []
      const value = BigInt(given[rate] as Units)
      const isLow = value < BigInt((given[floor] ?? 0) as Units)
      const isHigh = given[cap] !== undefined && value > BigInt(given[cap] as Units)
      return isLow || isHigh ? [`networks.${network}.${rate} is not from ${floor} to ${cap}`] : []
    })
  })
}

const rateNames: readonly (readonly [rate: string, floor: string, cap: string])[] = [
  ['rate_per_kvb', 'floor_per_kvb', 'cap_per_kvb'],
  ['gas_price_wei', 'floor_gas_price_wei', 'cap_gas_price_wei'],
  ['l1_fee_wei', 'floor_l1_fee_wei', 'cap_l1_fee_wei'],
  ['cu_price_ulamports', 'floor_cu_price_ulamports', 'cap_cu_price_ulamports'],
  ['stroops_per_op', 'floor_stroops', 'cap_stroops'],
]

type NamedEndpoint = { readonly url: string; readonly auth_env?: string | undefined }

function environmentFaults(document: ScheduleDocument, environment: Environment): string[] {
  const fault = (path: string, { auth_env }: NamedEndpoint): string[] =>
    auth_env === undefined || (environment[auth_env] ?? '') !== ''
      ? []
      : [`${path}.auth_env names ${auth_env}, which is not set in the environment`]
  const networks = cryptoNetworks.flatMap((network) =>
    document.networks[network].rpc.flatMap((endpoint, index) =>
      fault(`networks.${network}.rpc.${index}`, endpoint),
    ),
  )
  const prices = document.price_sources.flatMap((source, index) =>
    source.kind === 'http' ? fault(`price_sources.${index}`, source) : [],
  )
  return [...networks, ...prices]
}

function priceSourceFaults(
  source: ScheduleDocument['price_sources'][number],
  index: number,
  document: ScheduleDocument,
): string[] {
  const path = `price_sources.${index}`
  if (source.kind === 'http') {
    return source.url.includes('{symbol}') ? [] : [`${path}.url must hold {symbol}`]
  }
  const { network } = source
  if (!isCryptoNetwork(network) || !('chain_id' in document.networks[network])) {
    return [`${path}.network must be an EVM network`]
  }
  return document.networks[network].rpc.length > 0
    ? []
    : [`${path}.network needs networks.${network}.rpc`]
}

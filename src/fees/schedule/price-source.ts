import Type from 'typebox'
import { type CryptoNetwork, isCryptoNetwork } from '../../values/network.ts'
import { tokenMembersOf } from './asset-pair.ts'
import {
  convert,
  from,
  isPlainObject,
  leaf,
  object,
  optional,
  type Reader,
  record,
  type ValueOf,
} from './document-reader.ts'
import {
  decimalText,
  endpointShape,
  evmAddress,
  integer,
  positiveUnits,
  text,
  toEndpoint,
} from './schedule-values.ts'

/** Prices are in 1e-18 US dollars a coin, which represents every source's figures exactly. */
export const priceDecimals = 18

/** Chainlink feeds, read through a network's nodes, or an HTTP API. */
export type PriceSource = ValueOf<typeof chainlinkSource> | ValueOf<typeof httpSource>

/** One entry of the document's `price_sources`. */
export const priceSource: Reader<PriceSource> = (given, path, pass) => {
  const isHttp = isPlainObject(given) && given.kind === 'http'
  return (isHttp ? httpSource : chainlinkSource)(given, path, pass)
}

/** One entry of the document's `prices_usd`. */
export const price: Reader<bigint> = convert(decimalText, (given, addFault) =>
  positiveUnits(given, priceDecimals, '', addFault),
)

const evmNetwork: Reader<CryptoNetwork> = (given, path, { faults }) => {
  if (isCryptoNetwork(given) && 'erc20' in tokenMembersOf(given)) return { value: given }
  faults.push(`${path} must be an EVM network`)
  return undefined
}

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

import { attempt, smallest } from '@bursar/base'
import { ageOf } from '../../fee-basis.ts'
import { type PriceSource, priceDecimals } from '../../schedule/read-schedule.ts'
import { ethCall } from '../networks/eth-call.ts'
import { requireChain } from '../networks/evm-source.ts'
import { decimalUnits, returnedWords } from '../networks/node-figures.ts'
import { at, type ExactJson } from '../nodes/exact-json.ts'
import { type NodeClient, type RpcReply, resultOf } from '../nodes/node-client.ts'
import type { ObservedPrice } from './price-agreement.ts'

export type ObservedPrices = ReadonlyMap<string, ObservedPrice>
type ChainlinkSource = Extract<PriceSource, { kind: 'chainlink' }>
type HttpSource = Extract<PriceSource, { kind: 'http' }>

/** Allows for clock differences. A price from further ahead would stay fresh for too long. */
const aheadMicrosMax = 120_000_000n

/** No coin is worth more than a billion dollars, so a higher figure is not a coin's price. */
const usdMax = 10n ** 9n * 10n ** BigInt(priceDecimals)

/**
 * Reads Chainlink feeds through an EVM node: latestRoundData() and decimals() of each, in one
 * batch. Leaves out feeds that answer 0 or less or are older than their limit. Rejects if the node
 * is on another chain.
 */
export async function observeChainlink(
  node: NodeClient,
  source: ChainlinkSource,
  chainId: bigint,
  now: bigint,
  signal: AbortSignal,
): Promise<ObservedPrices> {
  const feeds = [...source.feeds]
  const replies = await node.batch(
    [
      { method: 'eth_chainId', params: [] },
      ...feeds.flatMap(([, feed]) => [ethCall(feed, 'feaf968c'), ethCall(feed, '313ce567')]),
    ],
    signal,
  )
  requireChain(replies[0], chainId)
  const prices = feeds.map(([symbol], index): [string, ObservedPrice | undefined] => {
    const [round, decimals] = [replies[1 + 2 * index], replies[2 + 2 * index]]
    return [symbol, readRoundIfSound(round, decimals)]
  })
  return freshOnly(prices, source.maxAgeSeconds, now)
}

/** Reads an HTTP price API, one request a symbol, with the price at a JSON pointer (RFC 6901). */
export async function observeHttpPrices(
  node: NodeClient,
  source: HttpSource,
  now: bigint,
  signal: AbortSignal,
): Promise<ObservedPrices> {
  const lookUps = [...source.symbols].map(async ([symbol, word]) => {
    const answer = await node.getForSymbol(word, signal)
    return [symbol, readHttpPrice(answer, source, now)] as const
  })
  const settled = await Promise.allSettled(lookUps)
  const prices = settled.filter((result) => result.status === 'fulfilled').map(({ value }) => value)
  const failed = settled.find((result) => result.status === 'rejected')
  if (prices.length === 0 && failed !== undefined) throw failed.reason
  return freshOnly(prices, source.maxAgeSeconds, now)
}

/** (roundId, answer, startedAt, updatedAt, answeredInRound). The answer is signed. */
function readRoundIfSound(round: RpcReply | undefined, decimals: RpcReply | undefined) {
  return attempt(() => {
    const [, answer = 0n, , updatedAt = 0n] = returnedWords(resultOf(round, 'a feed'), 5)
    const [places = 0n] = returnedWords(resultOf(decimals, 'a feed'), 1)
    if (answer >= 1n << 255n || places > 18n) return undefined
    const usd = answer * 10n ** (BigInt(priceDecimals) - places)
    return { usd, observedAtMicros: updatedAt * 1_000_000n }
  })
}

function readHttpPrice(answer: ExactJson, source: HttpSource, now: bigint): ObservedPrice {
  const usd = decimalUnits(at(answer, ...pointerSteps(source.pricePointer)), priceDecimals)
  if (source.timePointer === undefined) return { usd, observedAtMicros: now }
  return { usd, observedAtMicros: readTime(at(answer, ...pointerSteps(source.timePointer))) }
}

const pointerSteps = (pointer: string): string[] =>
  pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Reads RFC 3339 text, or seconds since 1970 with or without a fraction. */
function readTime(value: ExactJson | undefined): bigint {
  if (typeof value === 'string' && /^\d{1,12}(\.\d+)?$/.test(value)) return decimalUnits(value, 6)
  const millis = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (Number.isNaN(millis)) throw new Error('sent no valid time of its price')
  return BigInt(millis) * 1_000n
}

function freshOnly(
  prices: readonly (readonly [string, ObservedPrice | undefined])[],
  maxAgeSeconds: number,
  now: bigint,
): ObservedPrices {
  const fresh = new Map<string, ObservedPrice>()
  for (const [symbol, price] of prices) {
    if (price === undefined || price.usd <= 0n || price.usd >= usdMax) continue
    if (price.observedAtMicros - now > aheadMicrosMax) continue
    if (ageOf(price.observedAtMicros, now) > maxAgeSeconds) continue
    fresh.set(symbol, { ...price, observedAtMicros: smallest(price.observedAtMicros, now) })
  }
  return fresh
}

import assert from 'node:assert/strict'
import { cpus } from 'node:os'
import type { CryptoNetwork } from '@bursar/base'
import { type FeeBasis, type QuoteRequest, quoteFee } from '@bursar/fees'
import { readSchedule } from '../packages/fees/src/schedule/read-schedule.ts'
import { encodeAddress } from '../packages/sandbox/src/encode-address.ts'

/**
 * Measures the pure quote without HTTP and store. Prints p50 and p99 in microseconds and quotes a
 * second, per pair. Each quote has its own address, so that nothing is cached.
 *
 *     node bench/fee-quote.ts [QUOTES]
 */
const quotes = Number(process.argv[2] ?? 20_000)
const pairs: readonly (readonly [asset: string, network: CryptoNetwork])[] = [
  ['BTC', 'BITCOIN'],
  ['BCH', 'BITCOIN_CASH'],
  ['ETH', 'ETHEREUM'],
  ['USDC', 'ETHEREUM'],
  ['USDG', 'SOLANA'],
  ['XLM', 'STELLAR'],
]

const read = readSchedule({})
assert(read.ok)
const basis: FeeBasis = {
  schedule: read.schedule,
  acceptsSample: true,
  costs: new Map(),
  prices: new Map(),
}
const now = BigInt(Date.now()) * 1_000n

console.log(
  `node ${process.version}, ${cpus()[0]?.model ?? 'unknown processor'}, ${quotes} quotes each`,
)
console.log('pair                      p50 µs    p99 µs   quotes/s')
for (const [asset, network] of pairs) {
  const requests = Array.from({ length: quotes }, (_, index) => requestFor(asset, network, index))
  // The first pass warms up the compiler.
  measure(requests)
  const micros = measure(requests)
  const total = micros.reduce((sum, each) => sum + each, 0)
  const columns = [percentile(micros, 50), percentile(micros, 99)].map((each) =>
    each.toFixed(1).padStart(10),
  )
  const perSecond = Math.round((quotes / total) * 1_000_000)
  console.log(
    `${`${asset} on ${network}`.padEnd(22)}${columns.join('')}${String(perSecond).padStart(11)}`,
  )
}

function requestFor(asset: string, network: CryptoNetwork, index: number): QuoteRequest {
  const payload = Buffer.alloc(32, 7)
  payload.writeUInt32BE(index + 1)
  const address = encodeAddress(network, payload)
  return { asset, network, address, figure: { name: 'amount', text: `${1 + index}.125` } }
}

function measure(requests: readonly QuoteRequest[]): number[] {
  return requests.map((request) => {
    const before = process.hrtime.bigint()
    const quote = quoteFee(basis, request, now)
    const micros = Number(process.hrtime.bigint() - before) / 1_000
    assert(quote.ok)
    return micros
  })
}

function percentile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor((sorted.length * rank) / 100)] ?? 0
}

import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { until } from '../../../../test/support/until.ts'
import type { LivePrice } from '../../src/fee-basis.ts'
import { now, seconds } from '../sample-basis.ts'
import {
  json,
  type Methods,
  rpcAnswer,
  startRefresher,
  startStub,
  type TestDeps,
  testDeps,
} from './stub-node.ts'

const feed = '0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419'
const dollars = (cents: bigint): bigint => cents * 10n ** 16n
const word = (units: bigint): string => BigInt.asUintN(256, units).toString(16).padStart(64, '0')

/** A node with one feed of eight decimals. */
const feedNode = (answer: bigint, updatedAtMicros: bigint, chainId = '"0x1"'): Methods => ({
  eth_chainId: chainId,
  eth_call: ([given]) => {
    const { to, data } = given as { to: string; data: string }
    if (to !== feed) return undefined
    if (data === '0x313ce567') return `"0x${word(8n)}"`
    const updatedAt = updatedAtMicros / 1_000_000n
    return `"0x${[1n, answer, updatedAt, updatedAt, 1n].map(word).join('')}"`
  },
})

const chainlink = { kind: 'chainlink', network: 'ETHEREUM', max_age_s: 3_900, feeds: { ETH: feed } }
const ticker = (url: string) => ({
  kind: 'http',
  url: `${url}/products/{symbol}-USD/ticker`,
  max_age_s: 60,
  price_pointer: '/data/0/price',
  time_pointer: '/time',
  symbols: { ETH: 'ETH' },
})

async function pricesFrom(
  overrides: object,
  deps: TestDeps = testDeps(),
): Promise<{ prices: ReadonlyMap<string, LivePrice>; deps: TestDeps }> {
  using rig = startRefresher(overrides, deps)
  // Enough for two observations of the prices, even if those of a network's node come between.
  for (let round = 0; round < 5; round++) await rig.fire()
  return { prices: rig.refresher.current().prices, deps }
}

describe('prices from Chainlink', () => {
  const withFeed = async (test: TestContext, methods: Methods) => {
    const stub = await startStub(test, rpcAnswer(methods))
    const networks = { ETHEREUM: { rpc: [{ url: stub.url }] } }
    return pricesFrom({ networks, price_sources: [chainlink] })
  }

  it('are read with the feed’s decimals and dated by the feed’s time', async (test) => {
    const updatedAt = now - seconds(1_800)
    const { prices } = await withFeed(test, feedNode(412_345_000_000n, updatedAt))
    assert.deepEqual(prices.get('ETH'), {
      agreed: true,
      low: dollars(412_345n),
      high: dollars(412_345n),
      observedAtMicros: updatedAt,
      maxAgeSeconds: 3_900,
    })
  })

  it('are ignored if stale, from the future, zero, negative or from another chain', async (test) => {
    const bad: readonly Methods[] = [
      feedNode(412_345_000_000n, now - seconds(3_901)),
      feedNode(412_345_000_000n, now + seconds(121)),
      feedNode(0n, now),
      feedNode(-5n, now),
      feedNode(412_345_000_000n, now, '"0x89"'),
      { eth_chainId: '"0x1"', eth_call: '"0x"' },
    ]
    for (const methods of bad) {
      const { prices } = await withFeed(test, methods)
      assert.equal(prices.get('ETH'), undefined, JSON.stringify(methods))
    }
  })
})

describe('prices over HTTP', () => {
  const time = new Date(Number(now / 1_000n)).toISOString()
  const answer = (price: string, at = `"${time}"`) => `{"data":[{"price":${price}}],"time":${at}}`

  it('are read at their JSON pointers, as text or number, never through a float', async (test) => {
    for (const price of ['"4123.450000000000000001"', '4123.450000000000000001']) {
      let asked: string | undefined
      const stub = await startStub(test, ({ url }, response) => {
        asked = url
        json(response, answer(price))
      })
      const { prices } = await pricesFrom({ price_sources: [ticker(stub.url)] })
      const usd = dollars(412_345n) + 1n
      const agreed = { agreed: true, low: usd, high: usd } as const
      assert.deepEqual(
        prices.get('ETH'),
        { ...agreed, observedAtMicros: now, maxAgeSeconds: 60 },
        price,
      )
      assert.equal(asked, '/products/ETH-USD/ticker', price)
    }
  })

  it('are ignored if stale, invalid or missing, which is reported once', async (test) => {
    for (const text of [
      answer('"4000"', '"2020-01-01T00:00:00Z"'),
      answer('"x"'),
      '{}',
      '<html>',
    ]) {
      const stub = await startStub(test, (_, response) => json(response, text))
      const { prices, deps } = await pricesFrom({ price_sources: [ticker(stub.url)] })
      assert.equal(prices.size, 0, text)
      assert(deps.events.length <= 1, text)
    }
  })

  it('of a source that fails are reported at its first failure only', async (test) => {
    const stub = await startStub(test, (_, response) => json(response, '<html>'))
    const { deps } = await pricesFrom({ price_sources: [ticker(stub.url)] })
    const source = new URL(stub.url).host
    const reason = 'answered with invalid JSON'
    assert.deepEqual(deps.events, [{ event: 'price-source-failed', source, reason }])
  })

  it('are given up if the source does not answer within two seconds', async (test) => {
    const stub = await startStub(test, () => {})
    using rig = startRefresher({ price_sources: [ticker(stub.url)] })
    const fired = rig.fire()
    await until(() => stub.requests() === 1)
    await rig.time.advance(1999)
    assert.deepEqual(rig.deps.events, [])
    await rig.time.advance(1)
    await fired
    const reason = 'did not answer in time'
    const source = new URL(stub.url).host
    assert.deepEqual(rig.deps.events, [{ event: 'price-source-failed', source, reason }])
  })

  it('may be dated in seconds since 1970, with or without a fraction', async (test) => {
    const whole = now / 1_000_000n
    for (const at of [`${whole}`, `"${whole}"`, `${whole}.0`]) {
      const stub = await startStub(test, (_, response) => json(response, answer('"4000"', at)))
      const { prices } = await pricesFrom({ price_sources: [ticker(stub.url)] })
      assert.equal(prices.get('ETH')?.observedAtMicros, whole * 1_000_000n, at)
    }
  })

  it('do not agree with a feed more than 2 % away', async (test) => {
    const node = await startStub(test, rpcAnswer(feedNode(412_345_000_000n, now)))
    const stub = await startStub(test, (_, response) => json(response, answer('"4000"')))
    const networks = { ETHEREUM: { rpc: [{ url: node.url }] } }
    const price_sources = [chainlink, ticker(stub.url)]
    const { prices } = await pricesFrom({ networks, price_sources })
    assert.equal(prices.get('ETH')?.agreed, false)
  })
})

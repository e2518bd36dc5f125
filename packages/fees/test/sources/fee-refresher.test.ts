import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { until } from '../../../../test/support/until.ts'
import { encodeAddress } from '../../../sandbox/src/encode-address.ts'
import { describeNetworks } from '../../src/describe-schedule.ts'
import { quoteFee } from '../../src/quote-fee.ts'
import { now, scheduleWith, seconds } from '../sample-basis.ts'
import {
  type Answer,
  json,
  type Methods,
  type Rig,
  rpcAnswer,
  startRefresher,
  startStub,
  type TestDeps,
  testDeps,
} from './stub-node.ts'

const hex = (units: bigint): string => `"0x${units.toString(16)}"`

/** An Ethereum node with a gas price in wei, whose newest block has the current time. */
const ethereum = (deps: TestDeps, priceWei: () => bigint): Methods => ({
  eth_chainId: '"0x1"',
  eth_syncing: 'false',
  eth_getBlockByNumber: () => `{"timestamp":${hex(deps.clock() / 1_000_000n)}}`,
  eth_feeHistory: () =>
    `{"baseFeePerGas":[${hex(priceWei())}],"gasUsedRatio":[0],"reward":[["0x0"]]}`,
})

const nodesAt = (urls: readonly string[], more: object = {}) => ({
  networks: { ETHEREUM: { rpc: urls.map((url) => ({ url })), ...more } },
})

function stateOf({ refresher, deps }: Rig) {
  const states = describeNetworks(refresher.current(), deps.clock())
  const state = states.find(({ network }) => network === 'ETHEREUM')
  return [state?.source, state?.ageSeconds]
}

function priceOf({ refresher }: Rig): bigint | undefined {
  const model = refresher.current().costs.get('ETHEREUM')?.model
  return model?.family === 'evm' ? model.gasPriceWei : undefined
}

describe('openFeeRefresher with one node', () => {
  it('sets no timer and uses the schedule if no node is configured', () => {
    using rig = startRefresher({})
    assert.equal(rig.time.waiting(), 0)
    assert.equal(stateOf(rig)[0], 'schedule')
  })

  it('uses the schedule until the node answers, then observes at the network’s interval', async (test) => {
    const deps = testDeps()
    const stub = await startStub(test, rpcAnswer(ethereum(deps, () => 5_000_000_000n)))
    using rig = startRefresher(nodesAt([stub.url]), deps)
    assert.equal(stateOf(rig)[0], 'schedule')
    assert.equal(await rig.fire(), 12_000)
    assert.deepEqual([priceOf(rig), stateOf(rig)], [5_000_000_000n, ['live', 0]])
    assert.deepEqual(
      deps.events.map(({ event }) => event),
      ['source-changed'],
    )
  })

  it('confirms a jump with a second observation after one second', async (test) => {
    const deps = testDeps()
    let price = 5_000_000_000n
    const stub = await startStub(test, rpcAnswer(ethereum(deps, () => price)))
    using rig = startRefresher(nodesAt([stub.url]), deps)
    await rig.fire()
    price = 100_000_000_000n
    assert.equal(await rig.fire(), 1_000)
    assert.equal(priceOf(rig), 5_000_000_000n)
    price = 5_100_000_000n
    assert.equal(await rig.fire(), 12_000)
    assert.equal(priceOf(rig), 5_100_000_000n)
    price = 100_000_000_000n
    await rig.fire()
    await rig.fire()
    assert.equal(priceOf(rig), 100_000_000_000n)
  })

  it('falls back to the schedule when figures are too old and reports it once', async (test) => {
    const deps = testDeps()
    let answers = true
    const good = rpcAnswer(ethereum(deps, () => 5_000_000_000n))
    const stub = await startStub(test, (request, response, body) => {
      if (answers) good(request, response, body)
      else json(response, 'rate limited', 429)
    })
    using rig = startRefresher(nodesAt([stub.url]), deps)
    await rig.fire()
    answers = false
    deps.advance(seconds(60))
    await rig.fire()
    assert.deepEqual(stateOf(rig), ['live', 60])
    deps.advance(seconds(61))
    await rig.fire()
    assert.equal(stateOf(rig)[0], 'schedule')
    answers = true
    deps.advance(seconds(300))
    await rig.fire()
    assert.deepEqual(stateOf(rig), ['live', 0])
    const host = new URL(stub.url).host
    assert.deepEqual(deps.events, [
      { event: 'source-changed', network: 'ETHEREUM', from: 'schedule', to: 'live' },
      { event: 'node-failed', network: 'ETHEREUM', host, reason: 'answered HTTP 429' },
      { event: 'source-changed', network: 'ETHEREUM', from: 'live', to: 'schedule' },
      { event: 'node-recovered', network: 'ETHEREUM', host },
      { event: 'source-changed', network: 'ETHEREUM', from: 'schedule', to: 'live' },
    ])
  })

  it('quotes nothing when figures are too old and on_stale is fail', async (test) => {
    const stub = await startStub(test, (_request, response) => json(response, '[]'))
    using rig = startRefresher(nodesAt([stub.url], { on_stale: 'fail' }))
    await rig.fire()
    assert.equal(stateOf(rig)[0], 'unavailable')
    const address = encodeAddress('ETHEREUM', new Uint8Array(32).fill(3))
    const request = { asset: 'ETH', network: 'ETHEREUM', address } as const
    const figure = { name: 'amount', text: '1' } as const
    assert.deepEqual(quoteFee(rig.refresher.current(), { ...request, figure }, now), {
      ok: false,
      problem: 'fee-source-unavailable',
      cause: 'no-fresh-costs',
    })
  })

  it('reports a figure that was reduced to its cap', async (test) => {
    const deps = testDeps()
    const stub = await startStub(test, rpcAnswer(ethereum(deps, () => 10n ** 13n)))
    using rig = startRefresher(nodesAt([stub.url]), deps)
    await rig.fire()
    await rig.fire()
    assert.equal(priceOf(rig), 500_000_000_000n)
    const cuts = deps.events.filter(({ event }) => event === 'figure-cut')
    assert.equal(cuts.length, 1)
  })
})

describe('openFeeRefresher with several nodes', () => {
  const broken: readonly [what: string, answer: Answer, reason: string][] = [
    ['sends invalid JSON', (_, response) => json(response, '<html>'), 'answered with invalid JSON'],
    [
      'takes no batches',
      (_, response) => json(response, '{}'),
      'did not answer a batch with a list',
    ],
    ['answers 401', (_, response) => json(response, '{}', 401), 'answered HTTP 401'],
    ['closes the connection', (_, response) => void response.destroy(), 'cannot be reached'],
    [
      'redirects',
      (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
      'cannot be reached',
    ],
    [
      'sends too large an answer',
      (_, response) => json(response, `"${'x'.repeat(300_000)}"`),
      'answered more than 262144 bytes',
    ],
    ['is on another chain', rpcAnswer({ eth_chainId: '"0x89"' }), 'is on another chain'],
    ['knows no method', rpcAnswer({}), 'eth_chainId failed with -32601'],
    [
      'leaves calls of a batch unanswered',
      (_, response) => json(response, '[]'),
      'eth_chainId failed with no answer',
    ],
  ]
  for (const [what, answer, reason] of broken) {
    it(`asks the next node if the first ${what}`, async (test) => {
      const deps = testDeps()
      const bad = await startStub(test, answer)
      const good = await startStub(test, rpcAnswer(ethereum(deps, () => 5_000_000_000n)))
      using rig = startRefresher(nodesAt([bad.url, good.url]), deps)
      await rig.fire()
      assert.deepEqual(stateOf(rig), ['live', 0])
      assert.equal(rig.refresher.current().costs.get('ETHEREUM')?.host, new URL(good.url).host)
      const host = new URL(bad.url).host
      const failed = { event: 'node-failed', network: 'ETHEREUM', host, reason }
      assert.deepEqual(deps.events[0], failed)
    })
  }

  it('asks the next node if the first does not answer within two seconds', async (test) => {
    const deps = testDeps()
    const bad = await startStub(test, () => {})
    const good = await startStub(test, rpcAnswer(ethereum(deps, () => 5_000_000_000n)))
    using rig = startRefresher(nodesAt([bad.url, good.url]), deps)
    const fired = rig.fire()
    await until(() => bad.requests() === 1)
    await rig.time.advance(1999)
    assert.deepEqual([good.requests(), deps.events], [0, []])
    await rig.time.advance(1)
    await fired
    assert.deepEqual(stateOf(rig), ['live', 0])
    const { host } = new URL(bad.url)
    const reason = 'did not answer in time'
    assert.deepEqual(deps.events[0], { event: 'node-failed', network: 'ETHEREUM', host, reason })
    assert.equal(rig.time.waiting(), 1, 'a deadline has not ended with its work')
  })

  it('skips a failing node for longer each time', async (test) => {
    const deps = testDeps()
    const bad = await startStub(test, (_, response) => json(response, '', 500))
    const good = await startStub(test, rpcAnswer(ethereum(deps, () => 5_000_000_000n)))
    using rig = startRefresher(nodesAt([bad.url, good.url]), deps)
    const waits: number[] = []
    let askedAt = 0
    // A jump of the wall clock changes nothing.
    deps.advance(-seconds(3600))
    for (let round = 0; waits.length < 8; round++) {
      const before = bad.requests()
      await rig.fire()
      if (bad.requests() === before) continue
      waits.push(round - askedAt)
      askedAt = round
    }
    // In rounds of 12 s: after n failures the node is skipped for three quarters of 2^n seconds.
    assert.deepEqual(waits, [0, 1, 1, 1, 1, 2, 4, 8])
  })

  it('asks another node for confirmation', async (test) => {
    const deps = testDeps()
    const liar = await startStub(test, rpcAnswer(ethereum(deps, () => 400_000_000_000n)))
    const honest = await startStub(test, rpcAnswer(ethereum(deps, () => 5_000_000_000n)))
    using rig = startRefresher(nodesAt([liar.url, honest.url]), deps)
    await rig.fire()
    assert.deepEqual([priceOf(rig), honest.requests()], [undefined, 0])
    await rig.fire()
    assert.deepEqual([priceOf(rig), honest.requests()], [5_000_000_000n, 1])
  })

  it('uses the schedule if no server listens at the URL', async () => {
    const deps = testDeps()
    const closed = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => closed.once('listening', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    using rig = startRefresher(nodesAt([`http://127.0.0.1:${port}`]), deps)
    await rig.fire()
    assert.equal(stateOf(rig)[0], 'schedule')
  })
})

describe('openFeeRefresher', () => {
  it('cancels timers and requests when it is closed', async (test) => {
    const called = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    const stub = await startStub(test, (request) => {
      request.socket.once('close', () => closed.resolve())
      called.resolve()
    })
    using rig = startRefresher(nodesAt([stub.url]))
    void rig.fire()
    await called.promise
    rig.refresher.close()
    await closed.promise
    assert.deepEqual([rig.time.waiting(), rig.deps.events], [0, []])
  })

  it('replaces the schedule and keeps observed costs of unchanged networks', async (test) => {
    const deps = testDeps()
    const stub = await startStub(test, rpcAnswer(ethereum(deps, () => 5_000_000_000n)))
    using rig = startRefresher(nodesAt([stub.url]), deps)
    await rig.fire()
    rig.refresher.replaceSchedule(scheduleWith(nodesAt([stub.url], { margin_bp: 7_000 })), true)
    assert.deepEqual(stateOf(rig), ['live', 0])
    assert.equal(rig.refresher.current().schedule.networks.ETHEREUM.marginBasisPoints, 7_000n)
    const dearer = { gas: { native: 50_000 } }
    rig.refresher.replaceSchedule(scheduleWith(nodesAt([stub.url], dearer)), true)
    assert.equal(stateOf(rig)[0], 'schedule')
    assert.equal(rig.time.waiting(), 1)
  })

  it('sends the authorization from the environment', async (test) => {
    const deps = testDeps()
    let sent: string | undefined
    const good = rpcAnswer(ethereum(deps, () => 5_000_000_000n))
    const stub = await startStub(test, (request, response, body) => {
      sent = request.headers.authorization
      good(request, response, body)
    })
    const rpc = [{ url: stub.url, auth_env: 'NODE_AUTH' }]
    const overrides = { networks: { ETHEREUM: { rpc } } }
    using rig = startRefresher(overrides, deps, { NODE_AUTH: 'Bearer abc' })
    await rig.fire()
    assert.equal(sent, 'Bearer abc')
  })
})

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { cryptoNetworks, parseDecimal } from '@bursar/base'
import fc from 'fast-check'
import { pino } from 'pino'
import { describeService } from '../../../test/support/describe-service.ts'
import {
  callUrl,
  startTestService,
  type TestService,
  temporaryFolder,
} from '../../../test/support/harness.ts'
import { withdrawal } from '../../../test/support/operation-calls.ts'
import { readinessChecks } from '../../server/src/documents/readiness.ts'
import { openFees } from '../src/sources/open-fees.ts'
import { addressOn } from './asked.ts'
import { basisWith, now, scheduleWith } from './sample-basis.ts'

const path = '/v2/transfer/fees/crypto-withdrawal'
const runs = { seed: 20_261_121, numRuns: process.env.BURSAR_TEST_LONG === '1' ? 5000 : 300 }

const service = describeService({
  env: { BURSAR_FEE_QUOTES_OPEN_MAX: '1000000', BURSAR_OPERATOR_PORT: '0' },
})

const ask = (body: unknown) =>
  service.call(path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const pairs = [...scheduleWith().pairs.values()].flatMap((ofNetwork) =>
  [...ofNetwork.values()].filter(({ enabled }) => enabled),
)

describe('over HTTP', () => {
  test('amount + fee = total, and quoting the total returns the amount', async () => {
    const asked = fc.record({ pair: fc.constantFrom(...pairs), whole: fc.bigInt(10n, 10n ** 12n) })
    await fc.assert(
      fc.asyncProperty(asked, fc.double({ min: 0, max: 1, noNaN: true }), async (given, part) => {
        const { asset, network, decimals } = given.pair
        const fraction = String(Math.floor(part * 10 ** Math.min(decimals, 15))).padStart(
          Math.min(decimals, 15),
          '0',
        )
        const amount = `${given.whole}.${fraction}`
        const plain = { asset, crypto_network: network, destination_address: addressOn(network) }
        const { status, body } = await ask({ ...plain, amount })
        assert.equal(status, 200, JSON.stringify(body))
        assert.equal(body.amount, amount)
        const units = (text: string) => {
          const parsed = parseDecimal(text, decimals)
          assert.ok(parsed.ok)
          return parsed.units
        }
        assert.equal(units(body.amount) + units(body.fee), units(body.total))
        const back = await ask({ ...plain, total: body.total })
        assert.equal(back.body.total, body.total)
        assert.equal(units(back.body.amount), units(amount))
        assert.equal(back.body.fee, body.fee)
      }),
      runs,
    )
  })

  test('every invalid body is a 400 that quotes no address', async () => {
    const texts = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '',
        '0',
        '-1',
        '1e5',
        '__proto__',
        '\u0000',
        'ETHEREUM',
        '5',
        '1'.repeat(300),
      ),
    )
    const values = fc.oneof(texts, fc.jsonValue(), fc.constant(undefined))
    const bodies = fc.record({
      asset: fc.oneof(values, fc.constant('USDC')),
      crypto_network: fc.oneof(values, fc.constant('ETHEREUM')),
      destination_address: fc.constantFrom('marker-of-an-address', 'marker'.repeat(50), null),
      amount: values,
      total: values,
    })
    await fc.assert(
      fc.asyncProperty(fc.oneof(bodies, fc.jsonValue()), async (body) => {
        const { status, text, body: answer } = await ask(body)
        assert.equal(status, 400, text)
        assert.equal(answer.status, 400)
        assert.doesNotMatch(text, /marker/)
      }),
      runs,
    )
  })
})

const feesOf = async ({ operatorUrl }: TestService) => {
  const { status, body } = await callUrl(`${operatorUrl}/readyz`, {})
  assert.equal(status, 200)
  return body.checks.fees
}

test('the operator’s /readyz reports the source and age of every network’s costs', async () => {
  const { status, networks } = await feesOf(service)
  assert.equal(status, 'ok')
  assert.deepEqual(Object.keys(networks), cryptoNetworks)
  const states = Object.entries<{ source: string; age_s: number }>(networks)
  for (const [network, { source, age_s }] of states) {
    assert.equal(source, 'schedule', network)
    assert.ok(Number.isInteger(age_s) && age_s >= 0, `${network}: ${age_s}`)
  }
})

test('without an accepted schedule the service is ready and reports why it quotes no fee', async (t) => {
  const env = { BURSAR_ACCEPT_SAMPLE_FEES: 'false', BURSAR_OPERATOR_PORT: '0' }
  const strict = await startTestService({ env })
  t.after(() => strict.stop())
  assert.deepEqual((await strict.call('/readyz', { as: null })).body, { status: 'ready' })
  const { status, reason, networks } = await feesOf(strict)
  assert.deepEqual([status, reason], ['unavailable', 'no fee can be quoted: sample-not-accepted'])
  const cause = 'sample-not-accepted'
  assert.deepEqual(networks.BITCOIN, { source: 'unavailable', cause, without_fee: { BTC: cause } })
})

test('the start says in one warning that no fee can be quoted, and why', () => {
  const environment = {}
  const warningsOf = (acceptSampleFees: boolean) => {
    const lines: string[] = []
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) })
    const config = { feeSchedule: undefined, acceptSampleFees }
    const fees = openFees({ config, environment, clock: () => now, log })
    assert.deepEqual(lines, [], 'a start that is refused says nothing of fees')
    fees.warnWithoutFee()
    fees.close()
    return lines.map((line) => JSON.parse(line))
  }
  const [warning, ...others] = warningsOf(false)
  assert.deepEqual(others, [])
  assert.deepEqual(warning.causes, ['sample-not-accepted'])
  assert.match(
    warning.msg,
    /^no fee can be quoted: the fee schedule has only sample values, which are not accepted; /,
  )
  assert.deepEqual(warningsOf(true), [])
})

test('fees are degraded where some assets cannot be quoted, and failed where no source can be reached', async () => {
  const diverging = { agreed: false, observedAtMicros: now, maxAgeSeconds: 60 } as const
  const rpc = [{ url: 'https://node.example' }]
  for (const [basis, expected] of [
    [basisWith(), 'ok'],
    [basisWith({}, { prices: new Map([['ETH', diverging]]) }), 'degraded'],
    [basisWith({ networks: { BITCOIN: { rpc, on_stale: 'fail' } } }), 'degraded'],
    [basisWith({}, { acceptsSample: false }), 'unavailable'],
    [withoutSources({}), 'failed'],
    // The operator has not accepted the fees of the other networks, so they are not offered.
    [withoutSources({ BITCOIN: { rpc, on_stale: 'fail' } }, { acceptsSample: false }), 'failed'],
  ] as const) {
    const checks = readinessChecks({
      store: { ping: async () => {}, servers: () => [], damage: { counts: () => new Map() } },
      credentials: { freshness: () => ({ fresh: true, ageMs: 0 }) },
      feeBasis: () => basis,
      clock: () => now,
    })
    const state = await checks.find(({ name }) => name === 'fees')?.check()
    assert.equal(state?.status, expected)
  }
})

/** Every network, or some, quote by nodes alone, and none has answered. */
function withoutSources(networks: object, options = {}) {
  const failing = { rpc: [{ url: 'https://node.example' }], on_stale: 'fail' }
  const all = Object.fromEntries(cryptoNetworks.map((network) => [network, failing]))
  return basisWith({ networks: Object.keys(networks).length > 0 ? networks : all }, options)
}

test('SIGHUP replaces the schedule unless the new one has faults, and logs sources', async (t) => {
  const folder = temporaryFolder()
  const schedule = join(folder, 'fees.json')
  writeFileSync(schedule, '{}')
  const child = spawn(
    process.execPath,
    ['packages/cli/src/main.ts', 'sandbox', '--port', '0', '--json'],
    {
      env: { ...process.env, BURSAR_FEE_SCHEDULE: schedule, LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  t.after(async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  let log = ''
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', (chunk) => {
    log += chunk
  })
  const [first] = await once(child.stdout, 'data')
  const { url, client_id, client_secret } = JSON.parse(String(first))
  const answered = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
  })
  const { access_token } = (await answered.json()) as { access_token: string }
  const fee = async () => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}` },
      body: JSON.stringify(withdrawal),
    })
    return ((await response.json()) as { fee: string }).fee
  }
  const hangUp = async (document: string, logged: RegExp) => {
    writeFileSync(schedule, document)
    child.kill('SIGHUP')
    while (!logged.test(log)) await once(child.stderr, 'data')
  }
  assert.equal(await fee(), '2.99')
  await hangUp('{"assets":{"ETHEREUM":{"USDC":{"min_fee":"7.5"}}}}', /was read again/)
  assert.equal(await fee(), '7.5')
  await hangUp('{"assets":{"ETHEREUM":{"USDC":{"min_fee":-1}}}}', /old one stays in force/)
  assert.equal(await fee(), '7.5')
  const line = log.split('\n').find((each) => each.includes('"createCryptoWithdrawalFee"')) ?? ''
  const { costSource, asset } = JSON.parse(line).fee
  assert.deepEqual([costSource, asset], ['schedule', 'USDC'])
  assert.match(log, /"network":"BITCOIN","source":"schedule","ageSeconds":\d+/)
  assert.doesNotMatch(log, new RegExp(withdrawal.destination_address))
})

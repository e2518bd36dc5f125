import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limitNamed, openBackground } from '@bursar/base'
import type { FeeBasis } from '@bursar/fees'
import { unreadLog } from '../../../test/support/harness.ts'
import { parseMetrics } from '../../../test/support/metrics-text.ts'
import { holdLoop, hourMs, until } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { type OpenMetrics, openMetrics } from '../../base/src/metrics/open-metrics.ts'
import { basisWith, days, now, seconds } from '../../fees/test/sample-basis.ts'
import { type GaugeDeps, startServiceGauges } from '../src/service-gauges.ts'

const node = 'http://127.0.0.1:1'
let clock = now
let basis: FeeBasis = basisWith()
let counted = 0
let fails = false

const deps: Omit<GaugeDeps, 'metrics' | 'background'> = {
  store: {
    damage: { counts: () => new Map([['statements', 1]]) },
    customers: { changes: { waiting: () => 4 } },
  },
  stored: {
    quotes: {
      countOpen: async () => {
        if (fails) throw new Error('the database does not answer')
        counted += 1
        return 7
      },
    },
    imports: { count: async () => [{ state: 'lost', imports: 2 }] },
  },
  audit: { depth: () => 3 },
  oauth: { freshness: () => ({ fresh: true, ageMs: 1500, awaitsClients: false }) },
  feeBasis: () => basis,
  config: { credentialsAgeSecondsMax: 60 },
  clock: () => clock,
  log: unreadLog(),
}

let metrics: OpenMetrics
let time: ReturnType<typeof takeTime>
let stop = () => {}
before(() => {
  metrics = openMetrics({
    operations: () => [],
    statuses: () => [],
    refusals: () => [],
    kinds: () => ['statements'],
  })
  time = takeTime()
  stop = startServiceGauges({ ...deps, metrics, background: openBackground() })
})
after(() => {
  stop()
  time[Symbol.dispose]()
})

const read = async () => parseMetrics(await metrics.registry.metrics())

describe('the gauges of a service', () => {
  test('show what is counted by statements once the job has counted it', async () => {
    const earlier = await read()
    assert.deepEqual(
      earlier.samples.filter(({ name }) => name === 'bursar_imports'),
      [],
    )
    await time.advance(limitNamed('metricsCountedMs') - 1)
    assert.equal(counted, 1)
    const { sum } = await read()
    assert.equal(sum('bursar_open_quotes'), 7)
    assert.equal(sum('bursar_imports', { state: 'lost' }), 2)
    assert.equal(sum('bursar_waiting_event_requests'), 4)
    assert.equal(sum('bursar_audit_queue_entries'), 3)
    assert.equal(sum('bursar_damaged_records', { kind: 'statements' }), 1)
    await read()
    assert.equal(counted, 1)
  })

  test('outlive a database that does not answer', async () => {
    fails = true
    await time.advance(1)
    fails = false
    assert.equal((await read()).sum('bursar_open_quotes'), 7)
    await time.advance(limitNamed('metricsCountedMs') - 1)
    assert.equal(counted, 1)
    await time.advance(1)
    assert.equal(counted, 2)
  })

  test('show how late the event loop was', async () => {
    const late = async () => (await read()).sum('nodejs_eventloop_delay_max_seconds')
    await until(async () => {
      holdLoop(60)
      return (await late()) > 0.06 - limitNamed('eventLoopSampledMs') / 1000
    })
    assert.ok((await late()) < hourMs / 1000)
  })

  test('show the age of each source that the operator has configured', async () => {
    const ages = async () => {
      const { samples } = await read()
      const of = (name: string, source: string | undefined) =>
        samples.find((sample) => sample.name === name && sample.labels.source === source)?.value
      return samples
        .filter(({ name }) => name === 'bursar_source_age_seconds')
        .map(({ labels: { source }, value }) => {
          return [source, value, of('bursar_source_age_limit_seconds', source)]
        })
    }
    const credentials = ['credentials', 1.5, 60]
    assert.deepEqual(await ages(), [credentials])

    basis = basisWith({ networks: { BITCOIN: { rpc: [{ url: node }], max_age_s: 600 } } })
    clock = now + seconds(100)
    // No node has answered since the service was opened.
    assert.deepEqual(await ages(), [credentials, ['BITCOIN', 100, 600]])

    const [observed] = [{ observedAtMicros: now + seconds(90), host: 'node', model: undefined }]
    const costs = new Map([['BITCOIN', observed]]) as unknown as FeeBasis['costs']
    basis = { ...basis, costs }
    assert.deepEqual(await ages(), [credentials, ['BITCOIN', 10, 600]])

    clock = now + days(1)
    basis = basisWith({ prices_as_of: '2026-11-22', prices_usd: { BTC: '90000' } })
    const [, table] = await ages()
    assert.deepEqual(table?.[0], 'price_table')
    assert.equal(table?.[1], 36 * 3600)
    assert.ok(Number(table?.[2]) > 0)
  })
})

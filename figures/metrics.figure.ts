import { test } from 'node:test'
import { openMetrics } from '@bursar/base/open-metrics'
import { describeService } from '../test/support/describe-service.ts'
import { note, rounded } from './figure.ts'
import { msOf, openCostMeter, slowness } from './support/loop-cost.ts'

/** How long the metrics hold the event loop while they are read, on a quiet core. */

const HOLD_MS = 20

const service = describeService({ store: 'sqlite', env: { BURSAR_OPERATOR_PORT: '0' } })

test('metrics of ninety operations with twelve statuses each', async (t) => {
  const operations = Array.from({ length: 90 }, (_, at) => `operationWithALongName${at}`)
  const statuses = Array.from({ length: 12 }, (_, at) => String(400 + at))
  const metrics = openMetrics({
    operations: () => operations,
    statuses: () => statuses,
    refusals: () => [],
    kinds: () => [],
  })
  for (const operation of operations) {
    for (const status of statuses) {
      metrics.observe('http_server_request_duration_seconds', { operation, status }, 0.01)
    }
  }
  const ms = (await msOf(() => metrics.registry.metrics())) / (await slowness())
  note(t, { name: 'metrics of 1,080 series', value: rounded(ms), unit: 'ms', goal: HOLD_MS })
})

test('GET /metrics of a server', async (t) => {
  const meter = await openCostMeter(service.operatorUrl)
  t.after(() => meter.close())
  const request = Buffer.from('GET /metrics HTTP/1.1\r\nhost: bursar\r\n\r\n')
  const { ms } = await meter.holdOf(request)
  const value = rounded(ms / (await slowness()))
  note(t, { name: 'GET /metrics: hold of the loop', value, unit: 'ms', goal: HOLD_MS })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService } from '../support/describe-service.ts'
import { readMetrics } from '../support/metrics-text.ts'
import { until } from '../support/until.ts'

const service = describeService({ store: 'sqlite', env: { BURSAR_OPERATOR_PORT: '0' } })

test('the metrics show how late the event loop was', async () => {
  const late = async () =>
    (await readMetrics(service.operatorUrl)).sum('nodejs_eventloop_delay_max_seconds')
  await until(async () => (await late()) > 0)
  const blockedUntil = performance.now() + 300
  while (performance.now() < blockedUntil) {
    // The loop is blocked.
  }
  await until(async () => (await late()) > 0.2)
  assert.ok((await late()) < 60)
})

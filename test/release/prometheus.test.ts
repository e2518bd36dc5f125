import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { describeService } from '../support/describe-service.ts'
import { readMetrics } from '../support/metrics-text.ts'
import { promtool, promtoolIsMissing } from '../support/promtool.ts'

const service = describeService({ store: 'sqlite', env: { BURSAR_OPERATOR_PORT: '0' } })

test('the metrics are well-formed by the rules of Prometheus', {
  skip: promtoolIsMissing,
}, async () => {
  assert.equal((await service.call('/v2/transfer/fiat-accounts')).status, 200)
  const { text: input } = await readMetrics(service.operatorUrl)
  const { error, stderr } = spawnSync(promtool, ['check', 'metrics'], { input, encoding: 'utf8' })
  assert.equal(error, undefined)
  // OpenTelemetry names it so.
  const known = /^db_client_connection_count .* should not have "_count" suffix\n/
  assert.equal(stderr.replace(known, ''), '')
})

test('promtool finds no fault in examples/prometheus.yml', { skip: promtoolIsMissing }, () => {
  const words = ['check', 'config', 'examples/prometheus.yml']
  const ran = spawnSync(promtool, words, { encoding: 'utf8' })
  assert.equal(ran.status, 0, ran.stdout + ran.stderr)
})

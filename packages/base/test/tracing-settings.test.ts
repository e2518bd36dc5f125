import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ConfigError } from '../src/config.ts'
import { tracingPackages } from '../src/traces/open-tracing.ts'
import { readTracingSettings } from '../src/traces/tracing-settings.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
const always = { followsCaller: true, ratio: 1, delayMs: 2000 }

test('traces are sent where OpenTelemetry’s variables name an endpoint, and not otherwise', () => {
  const off = [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
    { ...endpoint, OTEL_SDK_DISABLED: 'true' },
    { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_TRACES_SAMPLER: 'always_on' },
  ]
  for (const environment of off) {
    assert.equal(readTracingSettings(environment), undefined, JSON.stringify(environment))
  }
  const on = [
    endpoint,
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/v1/traces' },
    { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf', OTEL_TRACES_EXPORTER: 'otlp' },
    {
      ...endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
    },
  ]
  const soon = readTracingSettings({ ...endpoint, OTEL_BSP_SCHEDULE_DELAY: '500' })
  assert.deepEqual(soon, { ...always, delayMs: 500 })
  for (const environment of on) {
    assert.deepEqual(readTracingSettings(environment), always, JSON.stringify(environment))
  }
})

test('a sampler is one of the six of the specification', () => {
  const sampled = (OTEL_TRACES_SAMPLER: string, argument?: string) =>
    readTracingSettings({
      ...endpoint,
      OTEL_TRACES_SAMPLER,
      ...(argument !== undefined && { OTEL_TRACES_SAMPLER_ARG: argument }),
    })
  assert.deepEqual(sampled('always_on'), { followsCaller: false, ratio: 1, delayMs: 2000 })
  assert.deepEqual(sampled('always_off', '1'), { followsCaller: false, ratio: 0, delayMs: 2000 })
  assert.deepEqual(sampled('traceidratio', '0.25'), {
    followsCaller: false,
    ratio: 0.25,
    delayMs: 2000,
  })
  assert.deepEqual(sampled('traceidratio'), { followsCaller: false, ratio: 1, delayMs: 2000 })
  assert.deepEqual(sampled('parentbased_always_off'), {
    followsCaller: true,
    ratio: 0,
    delayMs: 2000,
  })
  assert.deepEqual(sampled('parentbased_traceidratio', '0.5'), {
    followsCaller: true,
    ratio: 0.5,
    delayMs: 2000,
  })
})

test('what Bursar cannot do is refused by its name, and no value is repeated', () => {
  const secret = 'CANARY'
  const faults = {
    'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as https://api.example.com or http://127.0.0.1:8080':
      [
        { OTEL_EXPORTER_OTLP_ENDPOINT: secret },
        { OTEL_EXPORTER_OTLP_ENDPOINT: `ftp://user:${secret}@collector` },
        { OTEL_EXPORTER_OTLP_ENDPOINT: `collector:4318` },
      ],
    'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, the only protocol of Bursar': [
      { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    ],
    'OTEL_TRACES_EXPORTER must be otlp or none': [{ ...endpoint, OTEL_TRACES_EXPORTER: secret }],
    'OTEL_TRACES_SAMPLER must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio':
      [
        { ...endpoint, OTEL_TRACES_SAMPLER: secret },
        { ...endpoint, OTEL_TRACES_SAMPLER: 'toString' },
      ],
    'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1': ['1.5', '-1', secret].map((given) => ({
      ...endpoint,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: given,
    })),
  }
  for (const given of ['0', '-1', '1.5', '60001', secret]) {
    const environment = { ...endpoint, OTEL_BSP_SCHEDULE_DELAY: given }
    const message = 'OTEL_BSP_SCHEDULE_DELAY must be a whole number from 1 to 60000'
    assert.throws(() => readTracingSettings(environment), new ConfigError(message), given)
  }
  for (const [message, environments] of Object.entries(faults)) {
    for (const environment of environments) {
      assert.throws(() => readTracingSettings(environment), new ConfigError(message))
    }
  }
})

test('the message about missing packages names those of package.json', () => {
  const { peerDependencies, peerDependenciesMeta } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  assert.deepEqual(tracingPackages, peerDependencies)
  for (const name of Object.keys(tracingPackages)) {
    assert.deepEqual(peerDependenciesMeta[name], { optional: true }, name)
  }
})

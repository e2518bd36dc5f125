import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openPlace } from '../support/harness.ts'
import { type OtlpReceiver, openOtlpReceiver } from '../support/otlp-receiver.ts'
import { startProgram } from '../support/program.ts'

let receiver: OtlpReceiver
before(async () => {
  receiver = await openOtlpReceiver()
})
after(() => receiver.close())

/** A server that would keep its spans for a minute, and the environment of its operator. */
function startServer(env: Readonly<Record<string, string>> = {}) {
  return startProgram(['serve', '--port', '0', '--json'], {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '60000',
      OTEL_SERVICE_NAME: 'fees',
      ...env,
    },
  })
}

const urlOf = async (server: ReturnType<typeof startServer>): Promise<string> =>
  JSON.parse(await server.firstLine).url

for (const [workers, store] of [
  ['1', 'sqlite'],
  ['2', 'postgres'],
] as const) {
  test(`the last spans of ${workers} process(es) are sent before the server ends`, async (t) => {
    const place = await openPlace(store)
    t.after(place.remove)
    const server = startServer({ ...place.env, BURSAR_WORKERS: workers })
    const traceId = workers.repeat(32)
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
    assert.equal((await fetch(`${await urlOf(server)}/openapi.json`, { headers })).status, 200)
    assert.equal(await server.kill('SIGTERM'), 0)
    const spans = receiver.spans.filter((span) => span.traceId === traceId)
    assert.deepEqual(
      spans.map(({ name }) => name),
      ['audit', 'respond', 'GET /openapi.json'],
    )
    assert.equal(receiver.resources.at(-1)?.['service.name'], 'fees')
  })
}

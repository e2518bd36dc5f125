import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { temporaryFolder } from '../support/harness.ts'
import { type OtlpReceiver, openOtlpReceiver } from '../support/otlp-receiver.ts'
import { startProgram } from '../support/program.ts'

let receiver: OtlpReceiver
before(async () => {
  receiver = await openOtlpReceiver()
})
after(() => receiver.close())

/** A server that would keep its spans for a minute, and the environment of its operator. */
function startServer(env: Readonly<Record<string, string>> = {}) {
  const words = ['serve', '--port', '0', '--json', '--database', `sqlite:${temporaryFolder()}/a.db`]
  return startProgram(words, {
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

for (const workers of ['1', '2']) {
  test(`the last spans of ${workers} process(es) are sent before the server ends`, async () => {
    const server = startServer({ BURSAR_WORKERS: workers })
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

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { temporaryFolder } from '../support/harness.ts'
import { type OtlpReceiver, openOtlpReceiver } from '../support/otlp-receiver.ts'
import { startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

let receiver: OtlpReceiver
before(async () => {
  receiver = await openOtlpReceiver()
})
beforeEach(() => receiver.behave('takes'))
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

test('a receiver that hangs delays neither an answer nor the end of the server for long', async () => {
  receiver.behave('hangs')
  const server = startServer({ OTEL_BSP_SCHEDULE_DELAY: '1' })
  const url = await urlOf(server)
  const before = receiver.requests.length
  const get = async () => assert.equal((await fetch(`${url}/openapi.json`)).status, 200)
  await get()
  await until(() => receiver.requests.length > before)
  await get()
  assert.equal(await server.kill('SIGTERM'), 0)
  assert.match(server.errors(), /the last traces were not sent/)
})

test('a server whose packages are missing does not start, and says which to install', async () => {
  const refusal = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    registerHooks({ resolve: (name, context, next) => {
      if (!name.startsWith('@opentelemetry/')) return next(name, context)
      throw Object.assign(new Error('Cannot find package'), { code: 'MODULE_NOT_FOUND' })
    } })`)}`
  const server = startServer({ NODE_OPTIONS: `--import=${refusal}` })
  server.firstLine.catch(() => {})
  assert.equal(await server.ended, 2)
  assert.match(
    server.errors(),
    /An endpoint for traces is set, but the packages that send them are not installed\. Run `npm install @opentelemetry\/api@\S+ /,
  )
  // Without an endpoint nothing of them is loaded.
  const other = startServer({
    NODE_OPTIONS: `--import=${refusal}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: '',
  })
  assert.equal((await fetch(`${await urlOf(other)}/healthz`)).status, 200)
  assert.equal(await other.kill('SIGTERM'), 0)
})

test('a server with a variable that it cannot follow does not start', async () => {
  const server = startServer({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })
  server.firstLine.catch(() => {})
  assert.equal(await server.ended, 2)
  assert.match(server.errors(), /OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf/)
})

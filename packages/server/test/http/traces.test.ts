import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { after, before, describe, test } from 'node:test'
import { limitNamed, openTracing, setLimit } from '@bursar/base'
import { pino } from 'pino'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, temporaryFolder, unreadLog } from '../../../../test/support/harness.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { openOtlpReceiver, type ReceivedSpan } from '../../../../test/support/otlp-receiver.ts'
import { rawRequest } from '../../../../test/support/raw-request.ts'
import { aFiatAccount, aStatement } from '../../../../test/support/records.ts'
import { runBursar } from '../../../../test/support/run-bursar.ts'
import { setLimits } from '../../../../test/support/set-limits.ts'
import { testStore } from '../../../../test/support/test-database.ts'
import { hourMs } from '../../../../test/support/until.ts'
import { takeTime } from '../../../../test/support/virtual-time.ts'

const list = '/v2/transfer/fiat-accounts'
const accountId = '11111111-1111-4111-8111-111111111111'
const SIZE = 'db.operation.batch.size'
const engine = testStore === 'postgres' ? 'postgresql' : 'sqlite'

type Line = Readonly<Record<string, unknown>>
const lines: Line[] = []
const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
const lineOf = (id: string) =>
  lines.find(({ requestId, msg }) => requestId === id && msg === 'request')

const receiver = await openOtlpReceiver()
/** The SDK reads the environment of the process. */
const inherited = { ...process.env }
after(() => {
  process.env = inherited
})
Object.assign(process.env, {
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=payments',
  OTEL_BSP_SCHEDULE_DELAY: '20',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
})
const tracing = openTracing(process.env, log)
assert.ok(tracing !== undefined)
const service = describeService({ log, tracing })
const untraced = describeService({ log })
after(async () => {
  await tracing.close()
  await receiver.close()
})

let requests = 0
/** A trace of a caller, which has recorded its own span or not. */
function traceOfCaller(flags = '01') {
  requests += 1
  const traceId = `${String(requests).padStart(8, '0')}${'ab'.repeat(12)}`
  const headers = {
    traceparent: `00-${traceId}-00f067aa0ba902b7-${flags}`,
    'x-request-id': traceId,
  }
  return { traceId, headers }
}

const namesOf = (spans: readonly ReceivedSpan[], parent: ReceivedSpan) =>
  spans
    .filter(({ parentSpanId }) => parentSpanId === parent.spanId)
    .toSorted((one, other) => Number(one.startedAt - other.startedAt))
    .map(({ name }) => name)

const serverOf = (spans: readonly ReceivedSpan[]) =>
  spans.find(({ kind }) => kind === 2) ?? assert.fail('no span of a request')

const named = (spans: readonly ReceivedSpan[], name: string) =>
  spans.find((span) => span.name === name) ?? assert.fail(`no span ${name}`)

describe('where traces are sent', () => {
  test('a request is a span of its caller’s trace, with a span for each step and statement', async () => {
    const { traceId, headers } = traceOfCaller()
    const answer = await service.call(`${list}/${accountId}`, { headers })
    assert.equal(answer.status, 200)
    const spans = await receiver.traceOf(traceId)
    const server = serverOf(spans)
    assert.equal(server.parentSpanId, '00f067aa0ba902b7')
    assert.equal(server.name, `GET ${list}/:id`)
    assert.deepEqual(server.attributes, {
      'http.request.method': 'GET',
      'http.route': `${list}/:id`,
      'http.response.status_code': 200,
      'bursar.operation': 'getFiatAccount',
      'bursar.rows': 1,
    })
    assert.equal(server.status, 0)
    const steps = ['authenticate', 'rate limit', 'validate', 'open cursor', 'read', 'close page']
    assert.deepEqual(namesOf(spans, server), [...steps, 'audit', 'respond'])
    const summary = 'SELECT fiat_account_full'
    const statement = named(spans, summary)
    assert.deepEqual([statement.kind, statement.status], [3, 0])
    assert.deepEqual(statement.attributes, {
      'db.system.name': engine,
      'db.operation.name': 'SELECT',
      'db.query.summary': summary,
    })
    const read = named(spans, 'read')
    const batch = engine === 'sqlite' ? read : named(spans, 'batch of gets')
    assert.equal(statement.parentSpanId, batch.spanId)
    if (batch !== read) assert.equal(batch.parentSpanId, read.spanId)
    for (const span of spans) assert.ok(span.startedAt <= span.endedAt, span.name)
  })

  test('the log line names the trace and the span of the request', async () => {
    const { traceId, headers } = traceOfCaller()
    await service.call(`${list}?limit=1`, { headers })
    const { spanId } = serverOf(await receiver.traceOf(traceId))
    const { trace_id, span_id, trace_flags } = lineOf(traceId) ?? {}
    assert.deepEqual([trace_id, span_id, trace_flags], [traceId, spanId, '01'])
  })

  test('a request without a trace begins one, and its log line names it', async () => {
    for (const headers of [{}, { traceparent: 'CANARY' }]) {
      const id = `without-${requests++}`
      await service.call(`${list}?limit=1`, { headers: { ...headers, 'x-request-id': id } })
      const { trace_id, span_id } = lineOf(id) ?? {}
      const server = serverOf(await receiver.traceOf(String(trace_id)))
      assert.deepEqual([server.parentSpanId, server.spanId], ['', span_id])
    }
  })

  test('a caller that does not record its trace is followed', async () => {
    const { traceId, headers } = traceOfCaller('00')
    const later = traceOfCaller()
    await service.call(`${list}?limit=1`, { headers })
    await service.call(`${list}?limit=1`, { headers: later.headers })
    await receiver.traceOf(later.traceId)
    assert.deepEqual(
      receiver.spans.filter((span) => span.traceId === traceId),
      [],
    )
    const { trace_id, trace_flags } = lineOf(traceId) ?? {}
    assert.deepEqual([trace_id, trace_flags], [traceId, '00'])
  })

  test('each request that shares a statement has a span of it, and one of them the statement', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'grant_type=client_credentials&client_id=CANARY_UNKNOWN&client_secret=CANARY'
    const shared = async () => {
      const traces = Array.from({ length: 20 }, () => traceOfCaller())
      await Promise.all(
        traces.map(({ headers }) =>
          service.call('/oauth2/token', {
            as: null,
            method: 'POST',
            headers: { ...form, ...headers },
            body,
          }),
        ),
      )
      const spans = (
        await Promise.all(traces.map(({ traceId }) => receiver.traceOf(traceId)))
      ).flat()
      const batches = spans.filter(({ name }) => name === 'batch of clients')
      const isShared = batches.some(({ attributes }) => Number(attributes[SIZE]) > 1)
      return isShared ? { batches, spans } : undefined
    }
    // Whether requests meet in one turn of the event loop is up to the machine.
    let met = await shared()
    for (let tries = 0; met === undefined && tries < 20; tries += 1) met = await shared()
    assert.ok(met !== undefined)
    const { batches, spans } = met
    for (const { traceId, parentSpanId } of batches) {
      const waiting = spans.find(({ spanId }) => spanId === parentSpanId)
      assert.equal(waiting?.traceId, traceId)
    }
    // Each of n requests has an n-th of its batch.
    const shares = batches.map(({ attributes }) => 1 / Number(attributes[SIZE]))
    const withStatement = batches.filter((batch) => namesOf(spans, batch).includes('SELECT client'))
    assert.equal(withStatement.length, Math.round(shares.reduce((sum, share) => sum + share)))
  })

  test('a write has spans for its batch and for each statement, the commit too', async () => {
    const token = await operatorToken(service, 'traced', ['ingest:write_statements'])
    const { traceId, headers } = traceOfCaller()
    const record = aStatement()
    const path = `/ingest/v1/statements/${record.id}`
    const answer = await service.call(path, {
      token,
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(record),
    })
    assert.equal(answer.status, 201, answer.text)
    const spans = await receiver.traceOf(traceId)
    const batch = named(spans, 'batch of records')
    // A new session with PostgreSQL is checked first.
    const statements = namesOf(spans, batch).filter((_name, at, all) => at >= all.indexOf('BEGIN'))
    assert.equal(statements[0], 'BEGIN')
    assert.equal(statements.at(-1), 'COMMIT')
    assert.ok(statements.length > 4, statements.join())
  })

  test('a mistake of the caller is no error, and its span has the type of the problem', async () => {
    const { traceId, headers } = traceOfCaller()
    const unknown = await service.call(`${list}/99999999-9999-4999-8999-999999999999`, { headers })
    assert.equal(unknown.status, 404)
    const spans = await receiver.traceOf(traceId)
    const { attributes, status } = serverOf(spans)
    assert.deepEqual([attributes['http.response.status_code'], status], [404, 0])
    assert.deepEqual(
      spans.map((span) => span.status).filter((code) => code !== 0),
      [],
    )
  })

  test('a failure is an error of its span and has a code, and no message', async () => {
    const cases = {
      '57014': Object.assign(new Error('CANARY_MESSAGE'), { code: '57014' }),
      StoreUnavailable: Object.assign(new Error('CANARY_MESSAGE'), { name: 'StoreUnavailable' }),
      TypeError: Object.assign(new TypeError('CANARY_MESSAGE'), { code: 'CANARY with text' }),
      string: 'CANARY_MESSAGE',
    }
    for (const [type, failure] of Object.entries(cases)) {
      const { span, context } = tracing.begin(undefined)
      const step = span?.child('step')
      step?.end(failure)
      span?.end()
      const spans = await receiver.traceOf(context.traceId)
      const { status, statusMessage, attributes, events } = named(spans, 'step')
      assert.deepEqual(
        [status, statusMessage, attributes, events],
        [2, '', { 'error.type': type }, 0],
      )
    }
  })

  test('health checks have no span', async () => {
    const before = receiver.spans.length
    for (const path of ['/healthz', '/readyz']) {
      assert.equal((await service.call(path, { as: null })).status, 200)
    }
    const { traceId, headers } = traceOfCaller()
    await service.call('/openapi.json', { as: null, headers })
    const spans = await receiver.traceOf(traceId)
    assert.equal(receiver.spans.length - before, spans.length)
  })

  test('the exporter reads its variables as OpenTelemetry says', async () => {
    const { traceId, headers } = traceOfCaller()
    await service.call('/openapi.json', { as: null, headers })
    await receiver.traceOf(traceId)
    const { url, headers: sent } = receiver.requests.at(-1) ?? assert.fail('nothing was sent')
    assert.deepEqual([url, sent['x-tenant']], ['/v1/traces', 'payments'])
    const resource = receiver.resources.at(-1)
    assert.equal(resource?.['service.name'], 'bursar')
    assert.equal(resource?.['deployment.environment.name'], 'test')
  })
})

describe('where traces are not sent', () => {
  test('the log line names the trace and the span of the caller', async () => {
    const { traceId, headers } = traceOfCaller()
    await untraced.call(`${list}?limit=1`, { headers })
    const { trace_id, span_id, trace_flags } = lineOf(traceId) ?? {}
    assert.deepEqual([trace_id, span_id, trace_flags], [traceId, '00f067aa0ba902b7', '01'])
  })

  test('a request without a well-formed trace has none in its line', async () => {
    for (const given of [undefined, 'CANARY_TRACE', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`]) {
      const id = `none-${requests++}`
      const headers = { 'x-request-id': id, ...(given !== undefined && { traceparent: given }) }
      assert.equal((await untraced.call(`${list}?limit=1`, { headers })).status, 200)
      const line = lineOf(id) ?? assert.fail('no line')
      const members = Object.keys(line).filter((name) => /trace|span/.test(name))
      assert.deepEqual(members, [], String(given))
    }
    assert.doesNotMatch(JSON.stringify(lines), /CANARY_TRACE/)
  })
})

describe('what must not be in a span', () => {
  /** Everything that a span may say. `docs/running.md` has the same list. */
  const attributes = [
    'bursar.operation',
    'bursar.problem',
    'bursar.rows',
    'db.operation.batch.size',
    'db.operation.name',
    'db.query.summary',
    'db.system.name',
    'error.type',
    'http.request.method',
    'http.response.status_code',
    'http.route',
  ]
  const secret = 'CANARY_SECRET'
  const id = '44444444-4444-4444-8444-444444444444'
  const record = JSON.stringify(aFiatAccount({ id, customer_id: 'CANARY_CUSTOMER' }))

  before(async () => {
    const scopes = ['ingest:write_fiat_accounts', 'ingest:search']
    const token = await operatorToken(service, 'CANARY_CLIENT', scopes)
    const hidden = { 'user-agent': secret, cookie: secret, tracestate: `v=${secret}` }
    const requested: readonly (readonly [string, string, string?])[] = [
      ['GET', `${list}?id=${accountId}&unknown=${secret}&access_token=${secret}`],
      ['GET', `${list}?page_cursor=${secret}`],
      ['GET', `${list}/${secret}`],
      ['GET', `/${secret}?${secret}`],
      ['PURGE', `/${secret}`],
      ['POST', '/oauth2/token', `grant_type=client_credentials&client_secret=${secret}`],
      ['POST', '/v2/transfer/fees/crypto-withdrawal', `{"address":"${secret}"}`],
      ['PUT', `/ingest/v1/fiat-accounts/${id}`, record],
      ['PUT', `/ingest/v1/fiat-accounts/${id}`, record.replace('Boston', secret)],
      ['PUT', `/ingest/v1/fiat-accounts/${id}`, `{"${secret}":1}`],
      ['GET', '/ingest/v1/search?q=12345678'],
    ]
    for (const [method, path, body] of requested) {
      const { traceId, headers } = traceOfCaller()
      const bearer = path.startsWith('/ingest') ? token : await service.tokenOf(acme)
      await rawRequest(service.url, path, {
        method,
        headers: Object.entries({
          ...hidden,
          ...headers,
          'x-request-id': `${secret}-${traceId}`,
          authorization: `Bearer ${bearer}`,
        }).flat(),
        ...(body !== undefined && { body }),
      })
      await receiver.traceOf(traceId)
    }
  })

  test('no token, query, header, body, customer, client or id of a record reaches the receiver', async () => {
    const received = receiver.received()
    const token = await service.tokenOf(acme)
    const hidden = ['CANARY', 'PURGE', 'acme', accountId, id, '12345678', '021000021', 'Boston']
    for (const text of [...hidden, token, token.slice(-20)]) {
      assert.equal(received.includes(text), false, text)
    }
    // The grep finds what is there.
    assert.equal(received.includes('listFiatAccounts'), true)
  })

  test('every attribute is one of a closed list', () => {
    const seen = new Set(receiver.spans.flatMap((span) => Object.keys(span.attributes)))
    assert.deepEqual(
      [...seen].toSorted(),
      attributes.filter((name) => seen.has(name)),
    )
    for (const { attributes: own, name } of receiver.spans) {
      for (const value of Object.values({ ...own, name })) {
        assert.match(String(value), /^[\w ./:-]{1,80}$/, name)
      }
    }
  })
})

describe('a receiver that does not take spans', () => {
  /** Of one test: what another has left under way may warn later. */
  const openWarnings = () => {
    const warnings: Line[] = []
    const write = (line: string) => void warnings.push(JSON.parse(line))
    return { warnings, warned: pino({ level: 'warn' }, { write }) }
  }

  test('delays no answer, and what waits is bounded and counted', async () => {
    receiver.behave('refuses')
    const { warnings, warned } = openWarnings()
    const own = openTracing(process.env, warned) ?? assert.fail('no tracing')
    for (let begun = 0; begun < 3 * limitNamed('spansWaitingMax'); begun += 1)
      own.begin(undefined).span?.end()
    const answer = await service.call(`${list}?limit=1`)
    assert.equal(answer.status, 200)
    await own.close()
    const [first] = warnings
    assert.equal(first?.msg, 'traces cannot be sent; spans were lost')
    assert.ok(Number(first?.spans) >= 1)
    receiver.behave('takes')
  })

  test('is warned of once a minute, and given up at the end after a bounded time', async (t) => {
    receiver.behave('hangs')
    const { warnings, warned } = openWarnings()
    const flushedMs = limitNamed('spansFlushedMs')
    // The library measures its own deadline in real time.
    setLimits(t, { spansFlushedMs: hourMs })
    const own = openTracing(process.env, warned) ?? assert.fail('no tracing')
    setLimit('spansFlushedMs', flushedMs)
    using time = takeTime()
    const loseSome = () => {
      for (let begun = 0; begun < 2 * limitNamed('spansWaitingMax'); begun += 1)
        own.begin(undefined).span?.end()
      return warnings.length
    }
    assert.equal(loseSome(), 1)
    await time.advance(limitNamed('spansLostWarnedMs') - 1)
    assert.equal(loseSome(), 1)
    await time.advance(1)
    assert.equal(loseSome(), 2)
    const closed = own.close()
    await time.advance(flushedMs - 1)
    assert.equal(warnings.length, 2)
    await time.advance(1)
    await closed
    assert.equal(warnings.at(-1)?.msg, 'the last traces were not sent')
    receiver.behave('takes')
  })
})

test('the last spans are sent at the end, however long they would wait', async () => {
  const environment = { ...process.env, OTEL_BSP_SCHEDULE_DELAY: '60000' }
  const own = openTracing(environment, unreadLog()) ?? assert.fail('no tracing')
  const { span, context } = own.begin(undefined)
  span?.end()
  await own.close()
  assert.deepEqual(receiver.spans.filter(({ traceId }) => traceId === context.traceId).length, 1)
})

describe('a server that cannot send traces as it is configured', () => {
  const serve = (env: Readonly<Record<string, string>>) =>
    runBursar(`sqlite:${temporaryFolder()}/a.db`, ['serve', '--port', '0'], '', env)

  test('does not start without the packages, and says which to install', async () => {
    const hooks = registerHooks({
      resolve: (name, context, next) => {
        if (!name.startsWith('@opentelemetry/')) return next(name, context)
        throw Object.assign(new Error('Cannot find package'), { code: 'MODULE_NOT_FOUND' })
      },
    })
    try {
      const { code, err } = await serve({})
      assert.equal(code, 2, err)
      assert.match(
        err,
        /An endpoint for traces is set, but the packages that send them are not installed\. Run `npm install @opentelemetry\/api@\S+ /,
      )
      // Without an endpoint nothing of them is loaded.
      assert.equal(openTracing({}, unreadLog()), undefined)
    } finally {
      hooks.deregister()
    }
  })

  test('does not start with a variable that it cannot follow', async () => {
    const { code, err } = await serve({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })
    assert.equal(code, 2, err)
    assert.match(err, /OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf/)
  })
})

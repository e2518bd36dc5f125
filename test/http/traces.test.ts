import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pino } from 'pino'
import { describeService } from '../support/describe-service.ts'

const list = '/v2/transfer/fiat-accounts'

type Line = Readonly<Record<string, unknown>>
const lines: Line[] = []
const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
const lineOf = (id: string) =>
  lines.find(({ requestId, msg }) => requestId === id && msg === 'request')

const untraced = describeService({ log })

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

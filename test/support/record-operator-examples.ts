import assert from 'node:assert/strict'
import { parseInstant, programName } from '@bursar/base'
import {
  callsOf,
  cancelImport,
  getImport,
  historyOf,
  listImports,
  listOfAll,
  listPastRecords,
  operatorScopes,
  readsOf,
  resources,
} from '@bursar/contract'
import { consumeProblem } from '@bursar/server/withdrawal-fees'
import type {
  Example,
  OperationExamples,
} from '../../packages/server/src/documents/openapi-examples.ts'
import { renderProblem } from '../../packages/server/src/server/problem-of-failure.ts'
import type { TestService } from './harness.ts'
import { quoteFee, withdrawal } from './operation-calls.ts'
import { operatorToken } from './operator-token.ts'
import { anId, samples } from './records.ts'

/** What differs from run to run, each with the value that the examples show. */
const varying: Readonly<Record<string, unknown>> = {
  request_id: '6f1c9a52-4f0e-4b67-9d3c-2a1f0c8e7b90',
  next_page_cursor: 'ARhrZXlfOGIxYmRmODFkZjEwNzk2ZGRjOWGphKEyMB25RljrXHCU0poqiraPHMwBfSbJCJz0s6Q3',
  stored_at: '2026-11-22T09:30:00.125Z',
  replaced_at: '2026-11-22T09:31:00.25Z',
  kept_since: '2026-11-22T09:30:00Z',
  deleted_at: '2026-11-22T09:32:00Z',
  since: '2026-11-21T09:30:00Z',
}

const unknownId = '99999999-9999-4999-8999-999999999999'

type Sent = {
  readonly method?: string
  readonly status: number
  readonly summary: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The examples of the operator's API: the story of one record of each kind, and of one fee. */
export async function recordOperator(
  service: TestService,
): Promise<Readonly<Record<string, OperationExamples>>> {
  const token = await operatorToken(service, 'examples', operatorScopes)
  const send = async (path: string, sent: Sent): Promise<Example> => {
    const { method = 'GET', status, summary, headers = {}, body } = sent
    const answer = await service.call(`/ingest/v1/${path}`, {
      token,
      method,
      headers: { 'x-request-id': String(varying.request_id), ...headers },
      ...(body !== undefined && { body }),
    })
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    const value = answer.text === '' ? null : JSON.parse(answer.text, steady)
    return { summary, value }
  }
  const recorded: Record<string, OperationExamples> = {}
  for (const [at, resource] of resources.entries()) {
    const { kind } = resource
    const id = anId(8800 + at)
    const record = samples[kind]({ id, customer_id: 'northwind', source_version: 2 })
    const path = `${kind}/${id}`
    const unknown = { status: 404, summary: 'An id of no record' }
    const put = (status: number, summary: string, over: object = {}, headers = {}) =>
      send(path, {
        method: 'PUT',
        status,
        summary,
        body: JSON.stringify({ ...record, ...over }),
        headers,
      })
    const other = { 'if-match': '"another"' }
    const calls = callsOf(resource)
    recorded[calls.put] = {
      parameters: { id, allow_older: false },
      bodies: { record: { summary: 'A record', value: record } },
      answers: {
        201: { added: await put(201, 'A new record') },
        200: { unchanged: await put(200, 'The same record again') },
        400: { fault: await put(400, 'A member that no record has', { colour: 'red' }) },
        409: { older: await put(409, 'An older record', { source_version: 1 }) },
        412: { unmet: await put(412, 'Another version is stored', {}, other) },
      },
    }
    const post = (status: number, summary: string, body: string, headers = {}) =>
      send(kind, { method: 'POST', status, summary, body, headers })
    const line = `${JSON.stringify(record)}\n`
    const key = { 'idempotency-key': `examples-${kind}` }
    recorded[calls.post] = {
      parameters: { allow_older: false },
      bodies: { stream: { summary: 'A stream of one record', value: line } },
      answers: {
        200: { stored: await post(200, 'A stream that was stored', line, key) },
        400: { fault: await post(400, 'A record with a fault', '{"id":"7"}\n') },
        409: {
          older: await post(
            409,
            'An older record',
            `${JSON.stringify({ ...record, source_version: 1 })}\n`,
          ),
        },
        422: { other: await post(422, 'The same key with another stream', '\n', key) },
      },
    }
    recorded[calls.get] = {
      parameters: { id },
      bodies: {},
      answers: {
        200: { record: await send(path, { status: 200, summary: 'The record' }) },
        404: { unknown: await send(`${kind}/${unknownId}`, unknown) },
        410: {
          earlier: await send(`${path}?as_of=2020-01-01T00:00:00Z`, {
            status: 410,
            summary: 'A time before the records are kept',
          }),
        },
      },
    }
    recorded[historyOf(resource)] = {
      parameters: { id, limit: 10, page_cursor: '' },
      bodies: {},
      answers: {
        200: { versions: await send(`${path}/history`, { status: 200, summary: 'The versions' }) },
        404: { unknown: await send(`${kind}/${unknownId}/history`, unknown) },
      },
    }
    if (resource.mask !== undefined) {
      const reads = await send(`${path}/reads`, { status: 200, summary: 'Who saw it' })
      recorded[readsOf(resource)] = {
        parameters: { id, limit: 10, page_cursor: '' },
        bodies: {},
        answers: {
          200: {
            reads: {
              ...reads,
              value: JSON.parse(JSON.stringify(reads.value), (name, value) =>
                name === 'at' ? varying.stored_at : value,
              ),
            },
          },
          404: { unknown: await send(`${kind}/${unknownId}/reads`, unknown) },
        },
      }
    }
    const remove = { method: 'DELETE' }
    recorded[calls.delete] = {
      parameters: { id },
      bodies: {},
      answers: {
        404: { unknown: await send(`${kind}/${unknownId}`, { ...unknown, ...remove }) },
        412: {
          unmet: await send(path, {
            ...remove,
            headers: other,
            status: 412,
            summary: 'Another version is stored',
          }),
        },
      },
    }
  }
  for (const list of listPastRecords) {
    const { kind } = list.list.view.resource
    const path = `customers/northwind/${kind}`
    recorded[list.id] = {
      parameters: { customer_id: 'northwind', as_of: String(varying.kept_since), limit: 1 },
      bodies: {},
      answers: {
        200: { page: await send(`${path}?limit=1`, { status: 200, summary: 'A page' }) },
        410: {
          earlier: await send(`${path}?as_of=2020-01-01T00:00:00Z`, {
            status: 410,
            summary: 'A time before the records are kept',
          }),
        },
      },
    }
  }
  for (const resource of resources) {
    const { kind, statuses } = resource
    const isStatement = kind === 'statements'
    const query = isStatement ? 'shortfall=true&asset=USDG&limit=1' : 'limit=1'
    const unfit = isStatement ? 'shortfall=true' : 'limit=0'
    const times = {
      'created_at.gte': '2025-01-01T00:00:00Z',
      'created_at.lt': '2027-01-01T00:00:00Z',
    }
    recorded[listOfAll(resource)] = {
      parameters: {
        customer_id: 'northwind',
        ...(statuses[0] !== undefined && { status: statuses[0] }),
        ...(isStatement ? { shortfall: true, asset: 'USDG', order_by: 'SHORTFALL' } : times),
        order: 'DESC',
        limit: 1,
        page_cursor: '',
      },
      bodies: {},
      answers: {
        200: {
          page: await send(`${kind}?customer_id=northwind&${query}`, {
            status: 200,
            summary: 'A page',
          }),
        },
        400: { unfit: await send(`${kind}?${unfit}`, { status: 400, summary: 'A fault' }) },
      },
    }
  }
  const health = await send('health', { status: 200, summary: 'A process that is ready' })
  recorded.getHealth = {
    parameters: {},
    bodies: {},
    answers: { 200: { ready: { ...health, value: statusesOf(health.value) } } },
  }
  Object.assign(recorded, await recordImports(service, send))
  const found = await send(`search?q=${anId(8800)}`, { status: 200, summary: 'One hit' })
  recorded.searchRecords = {
    parameters: { q: anId(8800), page_cursor: '' },
    bodies: {},
    answers: {
      200: { hits: found },
      400: { missing: await send('search', { status: 400, summary: 'Nothing to find' }) },
    },
  }
  await service.parts.store.operator.customers.rename('northwind', 'Northwind Trading Ltd')
  const customers = await send('customers?prefix=north', { status: 200, summary: 'One customer' })
  recorded.listCustomers = {
    parameters: { prefix: 'north', limit: 100, page_cursor: '' },
    bodies: {},
    answers: {
      200: {
        page: {
          ...customers,
          value: JSON.parse(
            JSON.stringify(customers.value).replaceAll(/"\d{4}-[^"]*Z"/g, `"${varying.stored_at}"`),
          ),
        },
      },
    },
  }
  recorded.getAttention = {
    parameters: { customer_id: 'northwind' },
    bodies: {},
    answers: {
      200: {
        attention: await send('attention?customer_id=northwind', {
          status: 200,
          summary: 'What one customer’s records need',
        }),
      },
    },
  }
  const changes = await send('changes?limit=1', { status: 200, summary: 'A page of one' })
  recorded.listChanges = {
    parameters: { limit: 1, page_cursor: '', wait: 0 },
    bodies: {},
    answers: {
      200: {
        page: { ...changes, value: JSON.parse(JSON.stringify(changes.value), steadyOfChange) },
      },
    },
  }
  const latest = await send('changes/latest?limit=1', { status: 200, summary: 'The last one' })
  recorded.listLatestChanges = {
    parameters: { customer_id: 'northwind', limit: 1 },
    bodies: {},
    answers: {
      200: {
        changes: { ...latest, value: JSON.parse(JSON.stringify(latest.value), steadyOfChange) },
      },
    },
  }
  recorded.getCaller = {
    parameters: {},
    bodies: {},
    answers: { 200: { caller: await send('caller', { status: 200, summary: 'A client' }) } },
  }
  const fee = await quoteFee(service)
  const payout = { customer_id: 'acme', ...withdrawal, withdrawal: 'payout-7' }
  const consume = (status: number, summary: string, over: object = {}, id = fee) =>
    send(`fees/${id}/consume`, {
      method: 'POST',
      status,
      summary,
      body: JSON.stringify({ ...payout, ...over }),
    })
  const steadyFee = (example: Example): Example => ({
    ...example,
    value: JSON.parse(JSON.stringify(example.value).replaceAll(fee, anId(8900)), steadyOfFee),
  })
  const mismatched = await consume(409, 'Another amount', { amount: '7' })
  const consumed = await consume(200, 'The withdrawal has the fee')
  const taken = await consume(409, 'Another withdrawal', { withdrawal: 'payout-8' })
  const quote = await service.parts.quotes.operator.find(fee)
  assert.ok(quote !== undefined)
  const at = parseInstant('2026-11-22T09:40:00Z')?.micros ?? 0n
  const rendered = (summary: string, refused: Parameters<typeof consumeProblem>[0]): Example => {
    const request = {
      id: String(varying.request_id),
      path: `/ingest/v1/fees/${anId(8900)}/consume`,
    }
    const { body } = renderProblem(consumeProblem(refused, fee), request)
    return { summary, value: JSON.parse(body.replace(programName(), 'bursar')) }
  }
  recorded.consumeWithdrawalFee = {
    parameters: { id: anId(8900) },
    bodies: { payout: { summary: 'A withdrawal', value: payout } },
    answers: {
      409: {
        'fee-mismatched': steadyFee(mismatched),
        'fee-consumed': steadyFee(taken),
        'fee-expired': rendered('A fee whose time has passed', {
          outcome: 'expired',
          quote: { ...quote, expiresAt: at },
        }),
        'fee-not-reconciled': rendered('A fee from before a restore', {
          outcome: 'unreconciled',
          quote,
          restoredAt: at,
        }),
      },
      200: { consumed: steadyFee(consumed) },
      404: { unknown: await consume(404, 'An id of no fee', {}, unknownId) },
    },
  }
  recorded.getWithdrawalFee = {
    parameters: { id: anId(8900) },
    bodies: {},
    answers: {
      200: {
        fee: steadyFee(await send(`fees/${fee}`, { status: 200, summary: 'A consumed fee' })),
      },
      404: {
        unknown: await send(`fees/${unknownId}`, { status: 404, summary: 'An id of no fee' }),
      },
    },
  }
  return recorded
}

/** The imports after the streams of this recording, with one import that still runs. */
async function recordImports(
  { parts }: TestService,
  send: (path: string, sent: Sent) => Promise<Example>,
): Promise<Readonly<Record<string, OperationExamples>>> {
  const running = await parts.store.imports.begin({
    kind: 'statements',
    importer: { user: 'ada', sudoUser: undefined, file: 'statements-11-22.ndjson', files: 1 },
    boundTo: undefined,
  })
  const path = `imports/${running.row.id}`
  const id = anId(8950)
  const steadily = ({ summary, value }: Example): Example => ({
    summary,
    value: JSON.parse(JSON.stringify(value), (name, each) => {
      if (/^(started|ended|cancel_requested)_at$/.test(name)) return varying.stored_at
      if (name === 'id') return id
      return each === `/ingest/v1/${path}` ? `/ingest/v1/imports/${id}` : each
    }),
  })
  const unknown = { status: 404, summary: 'An id of no import' }
  const cancel = { method: 'DELETE' }
  const read = await send(path, { status: 200, summary: 'An import that runs' })
  const asked = await send(path, { ...cancel, status: 202, summary: 'It was asked to end' })
  await running.fail({
    state: 'cancelled',
    reason: 'the import was cancelled; nothing was changed',
  })
  const ended = await send(path, { ...cancel, status: 409, summary: 'An import that has ended' })
  const list = await send('imports?limit=2&state=stored', { status: 200, summary: 'Two streams' })
  const none = `imports/${unknownId}`
  return {
    [listImports.id]: {
      parameters: { state: 'stored', kind: 'statements', limit: 2, page_cursor: '' },
      bodies: {},
      answers: { 200: { page: steadily(list) } },
    },
    [getImport.id]: {
      parameters: { id },
      bodies: {},
      answers: { 200: { running: steadily(read) }, 404: { unknown: await send(none, unknown) } },
    },
    [cancelImport.id]: {
      parameters: { id },
      bodies: {},
      answers: {
        202: { asked: steadily(asked) },
        404: { unknown: await send(none, { ...unknown, ...cancel }) },
        409: { ended: steadily(ended) },
      },
    },
  }
}

/** The details of a part depend on the machine. */
function statusesOf(value: unknown): object {
  const { status, checks, jobs } = value as {
    readonly status: string
    readonly checks: Readonly<Record<string, { readonly status: string }>>
    readonly jobs: readonly { readonly name: string; readonly every_s: number }[]
  }
  const parts = Object.entries(checks).map(([name, part]) => [name, { status: part.status }])
  const ran = {
    status: 'ok',
    ran_at: '2026-11-22T09:30:01.204Z',
    took_ms: 3,
    next_at: '2026-11-22T09:30:03.207Z',
  }
  const [first] = jobs.map(({ name, every_s }) => ({ name, every_s, ...ran }))
  const requests = { minutes: [{ at: '2026-11-22T09:30:00Z', count: 412, failed: 0 }] }
  return { status, pid: 4711, checks: Object.fromEntries(parts), jobs: [first], requests }
}

const steady = (name: string, value: unknown): unknown =>
  typeof value === 'string' && name === 'detail'
    ? value.replace(/kept since [^;]+/, `kept since ${varying.kept_since}`)
    : typeof value === 'object'
      ? value
      : (varying[name] ?? value)

const steadyOfChange = function (this: unknown, name: string, value: unknown): unknown {
  if (name === 'created_at' || name === 'as_of') return varying.stored_at
  if (name === 'resume_cursor') return varying.next_page_cursor
  // The id of the event, whose secret is random, and not that of its object.
  const isEvent = name === 'id' && Object.hasOwn(Object(this), 'object_type')
  return isEvent ? '5a3c2e71-9f04-8d6b-b1c7-0e4f8a96d352' : value
}

const steadyOfFee = (name: string, value: unknown): unknown =>
  /^(created|expires|consumed)_at$/.test(name) ? `2026-11-22T09:${name.length}:00Z` : value

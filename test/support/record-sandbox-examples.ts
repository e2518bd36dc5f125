import assert from 'node:assert/strict'
import type {
  Example,
  OperationExamples,
} from '../../packages/server/src/documents/openapi-examples.ts'
import { anId, aStatement } from './records.ts'
import { type ControlledSandbox, ndjson } from './sandbox-control.ts'

/** What differs from run to run, each with the value that the examples show. */
const varying: Readonly<Record<string, unknown>> = {
  now: '2026-11-22T09:30:00Z',
  at: '2026-11-22T09:30:00.125Z',
  created_at: '2026-11-22T09:30:00.125Z',
  duration_ms: 1.25,
  request_id: '6f1c9a52-4f0e-4b67-9d3c-2a1f0c8e7b90',
  client_secret: 'the_secret_of_the_client',
}

const unknownId = '99999999-9999-4999-8999-999999999999'

/** The examples of the calls that control a sandbox: the story of one customer. */
export async function recordSandbox(
  sandbox: ControlledSandbox,
): Promise<Readonly<Record<string, OperationExamples>>> {
  const ids = new Map<string, string>()
  /** A random id is shown as one of the records of the tests. */
  const steady = (text: string): unknown =>
    JSON.parse(
      [...ids].reduce((all, [random, shown]) => all.replaceAll(random, shown), text),
      (name, value) => varying[name] ?? value,
    )
  const send = async (
    [method, path]: readonly [method: string, path: string],
    status: number,
    summary: string,
    body?: object | string,
  ): Promise<Example> => {
    const answer = await sandbox.control(method, `/sandbox/${path}`, body)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    if (status === 201 && typeof answer.body.id === 'string') {
      ids.set(answer.body.id, anId(8700 + ids.size))
    }
    return { summary, value: steady(answer.text) }
  }
  /** The id that the server gave, by the one that is shown. */
  const idOf = (example: Example): string => {
    const { id } = example.value as { readonly id: string }
    return [...ids].find(([, shown]) => shown === id)?.[0] ?? id
  }

  const created = { seed: 'docs', records: 'none' }
  const customer = await send(['POST', 'customers'], 201, 'An empty customer', created)
  const { customer_id: customerId } = customer.value as { readonly customer_id: string }
  const record = aStatement({ id: anId(8650), customer_id: customerId })
  const fault = { customer_id: customerId, kind: 'status', status: 503, times: 2 }
  const madeFault = await send(['POST', 'faults'], 201, 'The next two requests get 503', fault)
  const snapshot = await send(['POST', 'snapshots'], 201, 'The state as it is', undefined)
  const records = `records/statements?customer_id=${customerId}`
  const line = ndjson(record)
  const unknown = 'An id of nothing in the sandbox'
  const none = { parameters: {}, bodies: {} }
  const faults = `faults?customer_id=${customerId}`
  const requests = `requests?customer_id=${customerId}`
  return {
    createSandboxCustomer: {
      parameters: {},
      bodies: { empty: { summary: 'An empty customer', value: created } },
      answers: {
        201: { customer },
        409: { exists: await send(['POST', 'customers'], 409, 'The seed is taken', created) },
      },
    },
    listSandboxCustomers: {
      ...none,
      answers: { 200: { customers: await send(['GET', 'customers'], 200, 'All customers') } },
    },
    createSandboxFault: {
      parameters: {},
      bodies: { unavailable: { summary: 'Two requests get 503', value: fault } },
      answers: { 201: { fault: madeFault } },
    },
    listSandboxFaults: {
      parameters: { customer_id: customerId },
      bodies: {},
      answers: { 200: { faults: await send(['GET', faults], 200, 'Faults that still wait') } },
    },
    deleteSandboxFaults: { ...none, parameters: { customer_id: customerId }, answers: {} },
    putSandboxRecords: {
      parameters: { kind: 'statements', customer_id: customerId, allow_older: false },
      bodies: { records: { summary: 'One record', value: line } },
      answers: {
        200: { added: await send(['PUT', records], 200, 'A new record', line) },
        400: { fault: await send(['PUT', records], 400, 'A record with a fault', '{"id":"7"}\n') },
      },
    },
    listSandboxRequests: {
      parameters: { customer_id: customerId },
      bodies: {},
      answers: { 200: { requests: await send(['GET', requests], 200, 'None so far') } },
    },
    moveSandboxClock: {
      parameters: {},
      bodies: {
        advance: { summary: 'An hour ahead', value: { advance_seconds: 3600 } },
        real: { summary: 'The time of the machine', value: { real: true } },
      },
      answers: {
        200: {
          moved: await send(['POST', 'clock'], 200, 'An hour ahead', { advance_seconds: 3600 }),
          real: await send(['POST', 'clock'], 200, 'The time of the machine', { real: true }),
        },
      },
    },
    readSandboxClock: {
      ...none,
      answers: { 200: { clock: await send(['GET', 'clock'], 200, 'The time of the sandbox') } },
    },
    createSandboxSnapshot: { ...none, answers: { 201: { snapshot } } },
    listSandboxSnapshots: {
      ...none,
      answers: { 200: { snapshots: await send(['GET', 'snapshots'], 200, 'All snapshots') } },
    },
    restoreSandboxSnapshot: {
      parameters: { id: anId(8701) },
      bodies: {},
      answers: {
        200: {
          restored: await send(
            ['POST', `snapshots/${idOf(snapshot)}/restore`],
            200,
            'The state of the snapshot again',
          ),
        },
        404: { unknown: await send(['POST', `snapshots/${unknownId}/restore`], 404, unknown) },
      },
    },
    deleteSandboxSnapshot: {
      parameters: { id: anId(8701) },
      bodies: {},
      answers: { 404: { unknown: await send(['DELETE', `snapshots/${unknownId}`], 404, unknown) } },
    },
    deleteSandboxFault: {
      parameters: { id: anId(8700) },
      bodies: {},
      answers: { 404: { unknown: await send(['DELETE', `faults/${unknownId}`], 404, unknown) } },
    },
    deleteSandboxRecord: {
      parameters: { kind: 'statements', id: anId(8650) },
      bodies: {},
      answers: {
        404: { unknown: await send(['DELETE', `records/statements/${unknownId}`], 404, unknown) },
      },
    },
    deleteSandboxCustomer: {
      parameters: { customer: customerId },
      bodies: {},
      answers: { 404: { unknown: await send(['DELETE', 'customers/nobody'], 404, unknown) } },
    },
    sandboxReset: {
      ...none,
      answers: { 200: { records: await send(['POST', 'reset'], 200, 'The sample records') } },
    },
  }
}

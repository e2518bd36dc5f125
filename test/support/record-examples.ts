import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import type { BoundOperator } from '@bursar/base'
import {
  createCryptoWithdrawalFee,
  type GetOperation,
  getEvent,
  gets,
  type ListOperation,
  listEvents,
  lists,
  type Operation,
  operations,
} from '@bursar/contract'
import { StoreUnavailable } from '@bursar/records'
import type {
  Example,
  OperationExamples,
} from '../../packages/server/src/documents/openapi-examples.ts'
import { problemOf, renderProblem } from '../../packages/server/src/server/problem-of-failure.ts'
import { acme, startTestService, type TestService } from './harness.ts'
import { acmeIdOf, callOf, pathOf, withdrawal } from './operation-calls.ts'
import { operatorToken } from './operator-token.ts'
import { rawSocket } from './raw-request.ts'
import { recordCommon } from './record-common-examples.ts'
import {
  type PrunedEvents,
  pruneEvents,
  recordEvent,
  recordEvents,
  steadyEvent,
} from './record-event-examples.ts'
import { recordOperator } from './record-operator-examples.ts'
import { recordSandbox } from './record-sandbox-examples.ts'
import { startControlledSandbox } from './sandbox-control.ts'

/**
 * Sends the requests of the OpenAPI document's examples to a sandbox and records its answers.
 * Examples that are written by hand age with the first changed message.
 * `node test/support/record-examples.ts --write` replaces the file that the document reads.
 */
export async function recordExamples(): Promise<Readonly<Record<string, OperationExamples>>> {
  // The examples of a body use up both quotes, so the next one is refused.
  const service = await startTestService({ env: { BURSAR_FEE_QUOTES_OPEN_MAX: '2' } })
  const limited = await startTestService({ env: { BURSAR_REQUESTS_PER_SECOND_MAX: '1' } })
  const withoutFees = await startTestService({ env: { BURSAR_ACCEPT_SAMPLE_FEES: 'false' } })
  const pruned = await startTestService()
  const operatorService = await startTestService()
  const sandbox = await startControlledSandbox()
  try {
    const recorded: Record<string, OperationExamples> = {}
    const services = { service, limited, withoutFees, pruned: await pruneEvents(pruned) }
    for (const operation of operations) {
      recorded[operation.id] = await recordOperation(operation, services)
    }
    const ofOperator = await recordOperator(operatorService)
    const ofSandbox = await recordSandbox(sandbox)
    return { ...recorded, ...ofOperator, ...ofSandbox, ...(await recordEvery(service, limited)) }
  } finally {
    for (const started of [service, limited, withoutFees, pruned, operatorService, sandbox]) {
      await started.stop()
    }
  }
}

/** What every operation of each API may answer. */
async function recordEvery(service: TestService, limited: TestService) {
  const sandbox = await startControlledSandbox()
  const ingestScopes = ['ingest:read_health', 'ingest:consume_fee']
  const good = await operatorToken(service, 'core', ingestScopes)
  const customer = await service.tokenOf(acme)
  const accounts = '/v2/transfer/fiat-accounts'
  try {
    return {
      'every customers operation': await recordCommon(service, limited, {
        path: accounts,
        writePath: createCryptoWithdrawalFee.path,
        tokens: {
          good: customer,
          other: await service.tokenOf(acme, 'statements:read_statement'),
          limited: await limited.tokenOf(acme),
        },
        requestId,
      }),
      'every ingest operation': await recordCommon(service, limited, {
        path: '/ingest/v1/health',
        writePath: `/ingest/v1/fees/${unknownId}/consume`,
        tokens: {
          good,
          other: customer,
          limited: await operatorToken(limited, 'core', ingestScopes),
        },
        requestId,
      }),
      'every sandbox operation': await recordCommon(sandbox, limited, {
        path: '/sandbox/customers',
        writePath: '/sandbox/customers',
        requestId,
      }),
    }
  } finally {
    await sandbox.stop()
  }
}

type Services = Readonly<Record<'service' | 'limited' | 'withoutFees', TestService>> & {
  readonly pruned: PrunedEvents
}

export type Sent = {
  readonly path: string
  readonly status: number
  readonly summary: string
  readonly body?: unknown
  /** Acme's token with every scope by default, none for null. */
  readonly token?: string | null
}

const unknownId = '99999999-9999-4999-8999-999999999999'
const requestId = '6f1c9a52-4f0e-4b67-9d3c-2a1f0c8e7b90'

/** The ids of the fixtures repeat one digit: 11111111-1111-4111-8111-111111111111 to 5555…. */
export const fixtureId = /^([1-5])\1{7}-\1{4}-4\1{3}-8\1{3}-\1{12}$/

/** What differs from run to run, each with the value that the examples show. */
const varying: Readonly<Record<string, string>> = {
  request_id: requestId,
  next_page_cursor: 'ARhrZXlfOGIxYmRmODFkZjEwNzk2ZGRjOWGphKEyMB25RljrXHCU0poqiraPHMwBfSbJCJz0s6Q3',
  expires_at: '2026-11-22T09:40:00Z',
  next_expires_at: '2026-11-22T09:40:00Z',
  resume_cursor: 'ARhrZXlfOGIxYmRmODFkZjEwNzk2ZGRjOWGphKEyMB25RljrXHCU0poqiraPHMwBfSbJCJz0s6Q3',
  kept_since: '2026-11-22T09:30:00Z',
}

const beforeAll = '2020-01-01T00:00:00Z'
const earlierSummary = 'A time before the records are kept'

function steady(text: string): unknown {
  const value = JSON.parse(text, (name, inner) => {
    if (inner?.object_type !== undefined) return { ...inner, ...steadyEvent }
    if (name === 'detail')
      return inner.replace(/kept since [^;]+/, `kept since ${varying.kept_since}`)
    return varying[name] ?? inner
  })
  return 'expires_at' in value ? { ...value, id: '01a20051-dfc7-754c-a954-7733b45ee7b2' } : value
}

async function send(service: TestService, sent: Sent): Promise<Example> {
  const { path, status, summary, body, token } = sent
  const answer = await service.call(path, {
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    ...(token === null ? { as: null } : token !== undefined && { token }),
    headers: { 'x-request-id': requestId },
  })
  assert.equal(answer.status, status, `${path}: ${answer.text}`)
  return { summary, value: steady(answer.text) }
}

async function recordOperation(
  operation: Operation,
  services: Services,
): Promise<OperationExamples> {
  const { service, limited } = services
  const body = operation.body !== undefined ? withdrawal : undefined
  const plain = { path: pathOf(operation), ...(body !== undefined && { body }) }
  const otherScope = operations.find(({ scope }) => scope !== operation.scope)?.scope
  const narrow = await service.tokenOf(acme, String(otherScope))
  const special = await recordSpecial(operation, services)
  const { path } = plain
  const unsent = { summary: 'No Authorization header', path, status: 401, token: null, body }
  const unscoped = { summary: 'A token of other scopes', path, status: 403, token: narrow, body }
  const rendered = {
    500: { broken: rendering('Something broke', new Error(), path) },
    503: { store: rendering('The store cannot answer', new StoreUnavailable(undefined), path) },
  }
  return {
    parameters: special.parameters,
    bodies: special.bodies,
    answers: {
      ...special.answers,
      401: { 'no-token': await send(service, unsent) },
      403: { 'no-scope': await send(service, unscoped) },
      429: { ...special.answers[429], 'too-many-requests': await sendTooMuch(limited, operation) },
      431: { 'long-headers': await sendLongHeaders(service) },
      500: rendered[500],
      503: { ...special.answers[503], ...rendered[503] },
    },
  }
}

function rendering(summary: string, failure: Error, path: string): Example {
  const at = path.replace(/\?.*/, '')
  const { body } = renderProblem(problemOf(failure), { id: requestId, path: at })
  return { summary, value: steady(body) }
}

async function sendTooMuch(limited: TestService, operation: Operation): Promise<Example> {
  const call = { ...callOf(operation), headers: { 'x-request-id': requestId } }
  for (let sent = 0; sent < 20; sent += 1) {
    const { status, text } = await limited.call(pathOf(operation), call)
    if (status === 429) {
      return { summary: 'More requests than the limit allows', value: steady(text) }
    }
  }
  throw new Error(`${operation.id} was never refused with 429`)
}

async function sendLongHeaders({ url }: TestService): Promise<Example> {
  const long = 'x'.repeat(300_000)
  const answer = await rawSocket(url, `GET /v2/statements?x=${long} HTTP/1.1\r\nhost: x\r\n\r\n`)
  assert.match(answer, /^HTTP\/1\.1 431 /)
  const text = answer.slice(answer.indexOf('\r\n\r\n'))
  return { summary: 'A query that is too long', value: steady(text) }
}

async function recordSpecial(
  { id }: Operation,
  { service, withoutFees, pruned }: Services,
): Promise<OperationExamples> {
  if (id === createCryptoWithdrawalFee.id) return await recordFee(service, withoutFees)
  const events = { service, pruned, send, unknownId }
  if (id === listEvents.id) return await recordEvents(events)
  if (id === getEvent.id) return await recordEvent(events)
  const get = gets.find((operation) => operation.id === id)
  if (get !== undefined) return await recordGet(get, service)
  const list = lists.find((operation) => operation.id === id)
  assert.ok(list !== undefined, id)
  return await recordList(list, service)
}

async function recordGet(
  operation: GetOperation,
  service: TestService,
): Promise<OperationExamples> {
  const at = (id: string) => operation.path.replace(':id', id)
  const record = { path: at(acmeIdOf(operation)), status: 200, summary: 'The record' }
  const malformed = { path: at('12345'), status: 400, summary: 'An id that is no UUID' }
  const missing = { path: at(unknownId), status: 404, summary: 'An id of no record' }
  const { as_of: _, ...others } = operation.query
  const flags = Object.keys(others).map((name) => [name, true])
  const earlier = {
    path: `${record.path}?as_of=${beforeAll}`,
    status: 410,
    summary: earlierSummary,
  }
  return {
    parameters: { id: acmeIdOf(operation), ...Object.fromEntries(flags) },
    bodies: {},
    answers: {
      200: { record: await send(service, record) },
      400: { 'malformed-id': await send(service, malformed) },
      404: { 'unknown-id': await send(service, missing) },
      410: { earlier: await send(service, earlier) },
    },
  }
}

async function recordList(
  operation: ListOperation,
  service: TestService,
): Promise<OperationExamples> {
  const newest = await service.call(pathOf(operation, [['limit', '2']]))
  const fixture = newest.body[operation.envelope].find(({ id }: { readonly id: string }) =>
    fixtureId.test(id),
  )
  assert.ok(fixture !== undefined, `the first page of ${operation.id} has no fixture`)
  const parameters = parametersFor(operation, fixture)
  const first = { path: pathOf(operation, [['limit', '2']]), summary: 'A first page of two' }
  const tooLarge = { path: pathOf(operation, [['limit', '1001']]), summary: 'A limit over 1000' }
  const earlier = { path: pathOf(operation, [['as_of', beforeAll]]), summary: earlierSummary }
  return {
    parameters,
    bodies: {},
    answers: {
      200: { 'first-page': await send(service, { ...first, status: 200 }) },
      400: { limit: await send(service, { ...tooLarge, status: 400 }) },
      410: { earlier: await send(service, { ...earlier, status: 410 }) },
    },
  }
}

/**
 * A value for every parameter, such that all of them together select the one record. The API page
 * sends them. `as_of` has none: no fixed time is one at which the records of a store are known.
 */
function parametersFor(
  operation: ListOperation,
  record: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { view, filter, query } = operation
  const columns: Readonly<Record<string, string>> = {
    id: 'id',
    refId: 'ref_id',
    ...view.resource.columns,
  }
  const others = {
    limit: 2,
    order: 'DESC',
    order_by: 'CREATED_AT',
    page_cursor: '',
  }
  const outside: Partial<Record<BoundOperator, string>> = {
    lt: '2027-01-01T00:00:00Z',
    gt: '2026-01-01T00:00:00Z',
  }
  const exampleOf = (name: string): unknown => {
    const filtering = filter[name]
    switch (filtering?.kind) {
      case undefined:
        return others[name as keyof typeof others]
      case 'anyOf': {
        const value = record[columns[filtering.column] ?? '']
        return 'each' in (query[name] ?? {}) ? [value] : value
      }
      case 'bound':
        return outside[filtering.operator] ?? record.created_at
      case 'namesTenant':
        return acme.customerId
      case 'includesDeleted':
        return true
    }
  }
  const names = Object.keys(query).filter((name) => name !== 'as_of')
  return Object.fromEntries(names.map((name) => [name, exampleOf(name)]))
}

async function recordFee(
  service: TestService,
  withoutFees: TestService,
): Promise<OperationExamples> {
  const { path } = createCryptoWithdrawalFee
  const { amount, ...request } = withdrawal
  const refused = (summary: string, over: object) =>
    send(service, { path, status: 400, summary, body: { ...withdrawal, ...over } })
  const quoted = (summary: string, body: object) =>
    send(service, { path, status: 200, summary, body })
  const bodies = {
    amount: { summary: 'A fee for what arrives', value: { ...request, amount } },
    total: { summary: 'A fee for what is paid in all', value: { ...request, total: '102.99' } },
  }
  const large = { ...withdrawal, note: 'x'.repeat(17_000) }
  return {
    parameters: {},
    bodies,
    answers: {
      200: {
        amount: await quoted('A fee for what arrives', bodies.amount.value),
        total: await quoted('A fee for what is paid in all', bodies.total.value),
      },
      400: {
        'amount-and-total': await refused('Both amount and total', { total: '102.99' }),
        'unsupported-asset-network': await refused('An asset of another network', {
          crypto_network: 'BITCOIN',
        }),
        'exceed-precision': await refused('More decimals than the asset has', {
          amount: '1.0000001',
        }),
        'unsupported-address': await refused('An address with a wrong checksum', {
          destination_address: withdrawal.destination_address.replace('F0Aa', 'F0aA'),
        }),
        'below-min-withdraw-limit': await refused('Less than may be withdrawn', {
          crypto_network: 'BITCOIN',
          asset: 'BTC',
          destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
          amount: '0.00000001',
        }),
      },
      413: {
        'large-body': await send(service, {
          path,
          status: 413,
          summary: 'A large body',
          body: large,
        }),
      },
      429: {
        'too-many-open-quotes': await send(service, {
          path,
          status: 429,
          summary: 'More open quotes than the limit allows',
          body: withdrawal,
        }),
      },
      503: {
        'fee-source-unavailable': await send(withoutFees, {
          path,
          status: 503,
          summary: 'No fee can be guaranteed',
          body: withdrawal,
        }),
      },
    },
  }
}

if (process.argv.includes('--write')) {
  const file = new URL('../../packages/server/src/documents/openapi-examples.json', import.meta.url)
  writeFileSync(file, `${JSON.stringify(await recordExamples(), null, 2)}\n`)
}

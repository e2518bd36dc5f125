import assert from 'node:assert/strict'
import { systemTime } from '@bursar/base'
import { getEvent, listEvents } from '@bursar/contract'
import type { PruneKey } from '@bursar/records'
import type {
  Example,
  OperationExamples,
} from '../../packages/server/src/documents/openapi-examples.ts'
import type { TestService } from './harness.ts'
import { operatorToken } from './operator-token.ts'
import type { Sent } from './record-examples.ts'
import { anId, aStatement } from './records.ts'

/** What differs from run to run in an event, with the values that the examples show. */
export const steadyEvent = {
  id: '3f1c6a40-5e27-8d91-a6b4-0c9d2e7f1835',
  created_at: '2026-11-22T09:30:00.125Z',
  as_of: '2026-11-22T09:30:00.125Z',
}

/** A service that has pruned an event of Acme, and a cursor from before that. */
export type PrunedEvents = {
  readonly service: TestService
  readonly id: string
  readonly cursor: string
}

type Recording = {
  readonly service: TestService
  readonly pruned: PrunedEvents
  readonly send: (service: TestService, sent: Sent) => Promise<Example>
  readonly unknownId: string
}

const path = listEvents.path
const eventAt = (id: string) => getEvent.path.replace(':id', id)
const type = 'statement.created'

export async function recordEvents({
  service,
  pruned,
  send,
}: Recording): Promise<OperationExamples> {
  const first = { path: `${path}?type=${type}&limit=1`, summary: 'A first page of one' }
  const tooLarge = { path: `${path}?limit=101`, summary: 'A limit over 100' }
  const gone = {
    path: `${path}?page_cursor=${pruned.cursor}`,
    summary: 'A cursor from before events were pruned',
  }
  return {
    parameters: {
      type: [type],
      'created_at.lt': '2027-01-01T00:00:00Z',
      'created_at.lte': steadyEvent.created_at,
      'created_at.eq': steadyEvent.created_at,
      'created_at.gte': steadyEvent.created_at,
      'created_at.gt': '2026-01-01T00:00:00Z',
      limit: 2,
      order: 'ASC',
      page_cursor: '',
      wait: 0,
    },
    bodies: {},
    answers: {
      200: { 'first-page': await send(service, { ...first, status: 200 }) },
      400: { limit: await send(service, { ...tooLarge, status: 400 }) },
      410: { gone: await send(pruned.service, { ...gone, status: 410 }) },
    },
  }
}

export async function recordEvent({
  service,
  pruned,
  send,
  unknownId,
}: Recording): Promise<OperationExamples> {
  const [one] = (await service.call(`${path}?type=${type}&limit=1`)).body.items
  const found = { path: eventAt(one.id), status: 200, summary: 'The event' }
  const malformed = { path: eventAt('12345'), status: 400, summary: 'An id that is no UUID' }
  const missing = { path: eventAt(unknownId), status: 404, summary: 'An id of no event' }
  const lost = { path: eventAt(pruned.id), status: 410, summary: 'An event that was pruned' }
  const gone = await send(pruned.service, lost)
  return {
    parameters: { id: steadyEvent.id },
    bodies: {},
    answers: {
      200: { event: await send(service, found) },
      400: { 'malformed-id': await send(service, malformed) },
      404: { 'unknown-id': await send(service, missing) },
      410: {
        pruned: { ...gone, value: { ...Object(gone.value), instance: eventAt(steadyEvent.id) } },
      },
    },
  }
}

/** Stores two versions of a record of Acme, and prunes the first. */
export async function pruneEvents(service: TestService): Promise<PrunedEvents> {
  const token = await operatorToken(service, 'pruner', ['ingest:write_statements'])
  const { resume_cursor: cursor } = (await service.call(`${path}?limit=1`)).body
  const put = async (over: object) => {
    const record = aStatement({ id: anId(8950), ...over })
    const body = JSON.stringify(record)
    const sent = { method: 'PUT', token, body }
    const { status, text } = await service.call(`/ingest/v1/statements/${anId(8950)}`, sent)
    assert.match(String(status), /^20[01]$/, text)
  }
  await put({})
  const [{ id }] = (await service.call(`${path}?order=DESC&limit=1`)).body.items
  await put({ status: 'STATEMENT_STATUS_PAID' })
  const { pruneHistory } = service.parts.store.operator
  // The first call raises the times since which versions are kept, of the sample records too.
  let from: PruneKey | undefined
  do {
    from = (await pruneHistory(systemTime.now(), from, 1000)).next
  } while (from !== undefined)
  return { service, id, cursor }
}

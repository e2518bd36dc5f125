import assert from 'node:assert/strict'
import { noteExport, noteFullView } from '../../contract/access.ts'
import {
  type IngestCall,
  type IngestOperation,
  type IngestWorks,
  type PastList,
  pastInstant,
  pastUnknown,
} from '../../contract/ingest-operation.ts'
import { asTenant, type OperatorPrincipal } from '../../contract/principal.ts'
import { problem } from '../../contract/problem.ts'
import { type Answer, jsonAnswer, type Request } from '../../contract/request.ts'
import type { Clock } from '../../platform/clock.ts'
import { PastUnknown } from '../../store/records/history.ts'
import type { Store } from '../../store/records.ts'
import { unlessMatched } from '../server/respond.ts'
import { authenticate, requireOperator, requireScope } from './authenticate.ts'
import { closeCallPage, openCallPage } from './call-page.ts'
import type { CursorKeys } from './cursor.ts'
import { type AdmissionDeps, emptyPage, readQuery } from './handle.ts'
import { roomOf } from './page.ts'
import { closePastPage, openPastPage } from './past-page.ts'
import { readBody } from './read-body.ts'
import { validateControl, validateList } from './validate.ts'

/** What the pipeline of the operator's API needs. */
export type IngestDeps = AdmissionDeps & {
  readonly store: Pick<Store, 'operator'>
  readonly cursorKeys: CursorKeys
  readonly clock: Clock
  readonly works: IngestWorks
}

/** The request pipeline of `/ingest/v1`: the same steps for callers that are nobody's tenant. */
export async function handleIngest(
  operation: IngestOperation,
  request: Request,
  deps: IngestDeps,
): Promise<Answer> {
  const caller = await authenticate(request, deps.verify)
  await deps.rateLimit(caller.clientId, request.trace)
  if (operation.scope !== null) requireScope(caller, operation.scope)
  requireOperator(caller)
  try {
    return operation.kind === 'ingest'
      ? await handleCall(operation, request, caller, deps)
      : await handlePastList(operation, request, caller, deps)
  } catch (error) {
    throw error instanceof PastUnknown ? pastUnknown(error.kind, error.keptSince) : error
  }
}

async function handleCall(
  operation: IngestCall,
  request: Request,
  caller: OperatorPrincipal,
  { works, cursorKeys }: IngestDeps,
): Promise<Answer> {
  const { method, body, headers, content, trace, path, rawQuery } = request
  const work = works[operation.id]
  assert(work !== undefined, `service.ts binds no work to ${operation.id}, asked for at ${path}`)
  const members = operation.body
  const isObject = members !== undefined && 'members' in members
  const parameters = validateControl(operation, request.parameters, readQuery(operation, request))
  const answer = await work({
    caller,
    headers,
    target: `${method} ${path}?${rawQuery}`,
    left: request.left,
    content,
    trace,
    bytes: body,
    parameters,
    after: openCallPage(operation, caller, parameters, cursorKeys),
    body: isObject ? readBody(members, body) : new Map(),
  })
  const { status = operation.status } = answer
  const answered = { 'cache-control': 'no-store', ...answer.headers }
  const shown = closeCallPage(operation, caller, parameters, answer, cursorKeys)
  if (shown === undefined) return { status, headers: answered, body: undefined }
  const json =
    typeof shown === 'string'
      ? { status, headers: { 'content-type': 'application/json', ...answered }, body: shown }
      : jsonAnswer(shown, answered, status)
  return operation.method === 'GET' ? unlessMatched(json, headers['if-none-match']) : json
}

/** A page of a customer's list as it was, by the steps of a list. */
async function handlePastList(
  operation: PastList,
  request: Request,
  caller: OperatorPrincipal,
  { store, cursorKeys, clock, reserveAnswer }: IngestDeps,
): Promise<Answer> {
  const { list } = operation
  const all = { query: { ...list.query, ...operation.query } }
  const query = readQuery(all, request)
  const own = validateControl(operation, request.parameters, query)
  const customerId = String(own.get('customer_id'))
  if (caller.boundTo !== null && caller.boundTo !== customerId) {
    throw problem('notFound', 'no such customer of this client')
  }
  const view = own.get('view') === 'full' ? 'full' : 'customer'
  const { resource } = list.view
  const accessing = { caller, headers: request.headers, trace: request.trace }
  const accessed = { kind: resource.kind, customer: customerId }
  if (view === 'full' && resource.mask !== undefined) noteFullView(accessing, accessed)
  if (own.get('purpose') === 'export') noteExport(accessing, accessed)
  const input = validateList(list, query)
  const past = { operation, customerId, view } as const
  const instants = { asOf: pastInstant(own.get('as_of'), clock), now: clock() }
  const selection = openPastPage(past, instants, input, cursorKeys)
  const isOwn = input.namedTenants.every((named) => named === customerId)
  if (isOwn) await reserveAnswer(caller.clientId, roomOf(selection), request.trace)
  const isOfNow = instants.asOf === undefined && input.cursor === undefined
  const page = isOwn
    ? await store.operator
        .pageAsOf(resource, asTenant(customerId), view, selection)
        .catch((error: unknown) => {
          // The clock of the process that stored the first record may be ahead of this one.
          if (error instanceof PastUnknown && isOfNow) return emptyPage
          throw error
        })
    : emptyPage
  request.trace.rows = page.rows
  // Nothing was shown, and nobody may be a customer of this name.
  if (page.rows === 0) delete request.trace.access
  return closePastPage(past, selection, input, page, cursorKeys)
}

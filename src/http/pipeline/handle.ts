import assert from 'node:assert/strict'
import type {
  GetOperation,
  ListOperation,
  Operation,
  Works,
  WriteOperation,
} from '../../contract/operation.ts'
import type { Caller, Principal } from '../../contract/principal.ts'
import { echo, problem } from '../../contract/problem.ts'
import {
  type Answer,
  type Interfere,
  jsonAnswer,
  type RateLimit,
  type Request,
  type ReserveAnswer,
} from '../../contract/request.ts'
import type { Page, Revision } from '../../store/records/page.ts'
import type { Store } from '../../store/records.ts'
import { isMatch, notModified, unlessMatched } from '../server/respond.ts'
import { authenticate, requireScope, type Verify } from './authenticate.ts'
import type { CursorKeys } from './cursor.ts'
import { closePage, etagOf, openPage, pageHeaders, roomOf } from './page.ts'
import type { PageCache } from './page-cache.ts'
import { parseQuery, type RawQuery } from './parse-query.ts'
import { readBody } from './read-body.ts'
import { validateGet, validateList, validatePathId } from './validate.ts'

export type AdmissionDeps<C extends Caller = Caller> = {
  readonly verify: Verify<C>
  readonly rateLimit: RateLimit
  readonly reserveAnswer: ReserveAnswer
}

/** What the pipeline of the customers' API needs, composed once in service.ts. */
export type PipelineDeps = AdmissionDeps<Principal> & {
  readonly store: Pick<Store, 'customers'>
  readonly cursorKeys: CursorKeys
  readonly pages: PageCache
  readonly works: Works
  /** Where tests make requests fail. Only the sandbox has it. */
  readonly interfere?: Interfere | undefined
}

/** The request pipeline of `/v2`. Each step is one line, and any of them may throw a Problem. */
export async function handle(
  operation: Operation,
  request: Request,
  deps: PipelineDeps,
): Promise<Answer> {
  const principal = await authenticate(request, deps.verify)
  await deps.rateLimit(principal.clientId, request.trace)
  await deps.interfere?.(operation.id, principal.tenant, request.trace)
  requireScope(principal, operation.scope)
  switch (operation.kind) {
    case 'get':
      return await handleGet(operation, request, principal, deps)
    case 'list':
      return await handleList(operation, request, principal, deps)
    case 'write':
      return await handleWork(operation, request, principal, deps.works)
  }
}

/** The values of the declared parameters. The answer names the others, whatever it is. */
export function readQuery(
  { query }: { readonly query: Readonly<Record<string, unknown>> },
  request: Request,
): RawQuery {
  const { values, ignored } = parseQuery(request.rawQuery, query)
  if (ignored.length > 0) request.trace.ignoredParameters = ignored
  return values
}

async function handleGet(
  operation: GetOperation,
  request: Request,
  { tenant }: Principal,
  { store }: PipelineDeps,
): Promise<Answer> {
  const { parameters, trace } = request
  const query = readQuery(operation, request)
  const { id, includeDeleted } = validateGet(operation, parameters.id ?? '', query)
  const body = await store.customers.get(tenant, operation.view, id, includeDeleted)
  if (body === undefined) throw problem('notFound', operation.unknownId(echo(id)))
  trace.rows = 1
  return { status: 200, headers: { 'cache-control': 'no-store' }, body }
}

/**
 * A page that was kept is answered while its tag is that of the current revision, and so is a 304.
 * Neither reads the page. A page after a cursor is always read: the cursor's key may be revoked,
 * and a replica may be behind the page before.
 */
async function handleList(
  operation: ListOperation,
  request: Request,
  principal: Principal,
  { store, cursorKeys, pages, reserveAnswer }: PipelineDeps,
): Promise<Answer> {
  const { trace } = request
  const heldTag = request.headers['if-none-match']
  const tagOf = (revision: Revision) => etagOf(operation, principal, request, revision, cursorKeys)
  const key = `${operation.id} ${request.rawQuery} ${principal.tenant}`
  const kept = pages.find(key)
  if (kept !== undefined && kept.answer.headers.etag === tagOf(await currentRevision())) {
    trace.rows = kept.rows
    if (kept.ignored !== undefined) trace.ignoredParameters = kept.ignored
    const answer = unlessMatched(kept.answer, heldTag)
    await reserveAnswer(principal.clientId, answer.body?.length ?? 0, trace)
    return answer
  }
  const input = validateList(operation, readQuery(operation, request))
  const selection = openPage(operation, principal, input, cursorKeys)
  const isOwn = input.namedTenants.every((named) => named === principal.tenant)
  const mayKeep = isOwn && selection.after === undefined
  if (mayKeep && kept === undefined && heldTag !== undefined) {
    const revision = await currentRevision()
    const etag = tagOf(revision)
    if (isMatch(etag, heldTag)) return notModified(pageHeaders(etag, revision))
  }
  if (isOwn) await reserveAnswer(principal.clientId, roomOf(selection), trace)
  const page = isOwn
    ? await store.customers.page(principal.tenant, operation.view, selection)
    : emptyPage
  trace.rows = page.rows
  const etag = tagOf(page.revision)
  const answer = closePage(operation, principal, input, page, etag, cursorKeys)
  if (mayKeep) pages.keep(key, { answer, rows: page.rows, ignored: trace.ignoredParameters })
  return unlessMatched(answer, heldTag)

  function currentRevision(): Promise<Revision> {
    return store.customers.revision(principal.tenant, operation.view.resource)
  }
}

async function handleWork(
  operation: WriteOperation,
  request: Request,
  caller: Principal,
  works: Works,
): Promise<Answer> {
  const { path, parameters, body, trace } = request
  readQuery(operation, request)
  const work = works[operation.id]
  assert(work !== undefined, `service.ts binds no work to ${operation.id}, asked for at ${path}`)
  const id = validatePathId(operation, parameters.id)
  const input = readBody(operation.body, body)
  return jsonAnswer(await work({ caller, id, body: input, trace }), { 'cache-control': 'no-store' })
}

export const emptyPage: Page = {
  items: new Uint8Array(0),
  rows: 0,
  last: undefined,
  more: false,
  revision: { changedAt: 0n, damageMet: 0 },
}

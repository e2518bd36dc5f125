import type { GetOperation, ListOperation, Operation } from '../../contract/operation.ts'
import type { Principal } from '../../contract/principal.ts'
import { echo, Problem } from '../../contract/problem.ts'
import type { Answer, Request } from '../../contract/request.ts'
import type { Page, Store } from '../../store/records.ts'
import { handleQuote, type WithdrawalFees } from '../../withdrawal-fees/quote-withdrawal.ts'
import { unlessHeld } from '../server/respond.ts'
import { authenticate, requireScope, type VerifyToken } from './authenticate.ts'
import type { CursorKeys } from './cursor.ts'
import { closePage, readPage } from './page.ts'
import type { RequestLimit } from './rate-limit.ts'
import { validateGet, validateList } from './validate.ts'

/** What the walk needs, composed once in service.ts. */
export type WalkDependencies = {
  readonly verify: VerifyToken
  readonly store: Store
  readonly cursorKeys: CursorKeys
  readonly requestLimit: RequestLimit | undefined
  readonly fees: WithdrawalFees
}

/**
 * The one walk that serves every operation. Each step is one line, and none goes back to an earlier one; any of them
 * may throw a Problem, which the server turns into bytes.
 */
export async function handle(
  operation: Operation,
  request: Request,
  dependencies: WalkDependencies,
): Promise<Answer> {
  const principal = await authenticate(request, dependencies.verify)
  await dependencies.requestLimit?.(principal.clientId, request.trace)
  requireScope(principal, operation.scope)
  switch (operation.kind) {
    case 'get':
      return handleGet(operation, request, principal, dependencies)
    case 'list':
      return handleList(operation, request, principal, dependencies)
    case 'quote':
      return handleQuote(operation, request, principal, dependencies.fees)
  }
}

async function handleGet(
  operation: GetOperation,
  request: Request,
  principal: Principal,
  { store }: WalkDependencies,
): Promise<Answer> {
  const { id, includeDeleted } = validateGet(
    operation,
    request.parameters.id ?? '',
    request.rawQuery,
  )
  const body = await store.customers.get(principal.tenant, operation.view, id, includeDeleted)
  if (body === undefined) throw new Problem(404, operation.unknownId(echo(id)))
  request.trace.rows = 1
  return { status: 200, headers: { 'cache-control': 'no-store' }, body }
}

async function handleList(
  operation: ListOperation,
  request: Request,
  principal: Principal,
  { store, cursorKeys }: WalkDependencies,
): Promise<Answer> {
  const input = validateList(operation, request.rawQuery)
  const selection = readPage(operation, principal, input, cursorKeys)
  const page = input.namedTenants.every((named) => named === principal.tenant)
    ? await store.customers.page(principal.tenant, operation.view, selection)
    : emptyPage
  request.trace.rows = page.rows
  const answer = closePage(operation, principal, input, page, cursorKeys)
  return unlessHeld(answer, request.headers['if-none-match'])
}

const emptyPage: Page = {
  items: new Uint8Array(0),
  rows: 0,
  last: undefined,
  more: false,
  revision: 0,
}

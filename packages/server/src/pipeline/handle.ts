import { step, systemTime } from '@bursar/base'
import type { Answer, Caller, Interfere, Operation, RateLimit, Request } from '@bursar/contract'
import { serverLimits } from '../limits.ts'
import { unlessMatched } from '../server/entity-tag.ts'
import { bindingOf, closePage, openPage } from './close-page.ts'
import type { CursorKeys } from './cursor.ts'
import { watchRight } from './held-right.ts'
import type { Served } from './reading.ts'
import { validate } from './validate.ts'

/** What the operations of one API share, composed once. Each function may throw a Problem. */
export type Api<A extends Caller, C extends A = A> = {
  /** Finds the caller of a request, or throws a 401. */
  readonly authenticate: (request: Request) => A | Promise<A>
  readonly rateLimit: RateLimit
  /** Where tests make requests fail. Only the sandbox has it. */
  readonly interfere?: Interfere | undefined
  /** Returns a caller that may call operations of the scope. Throws a 403 for another. */
  readonly requireScope: (caller: A, scope: Operation['scope']) => C
  /** Whether a caller that was admitted may still call operations of the scope. */
  readonly stillMay?: ((caller: A, scope: Operation['scope']) => boolean) | undefined
  readonly cursorKeys: CursorKeys
}

/** The request pipeline. Each step is one line, and any of them may throw a Problem. */
export async function handle<A extends Caller, C extends A>(
  served: Served<C>,
  request: Request,
  api: Api<A, C>,
): Promise<Answer> {
  const { operation, recall } = served
  const { headers, trace } = request
  const { span } = trace
  const known = await step(span, 'authenticate', () => api.authenticate(request))
  await step(span, 'rate limit', () => api.rateLimit(known.clientId, trace))
  await api.interfere?.(operation.id, known.tenant ?? '', trace)
  const caller = api.requireScope(known, operation.scope)
  const kept = recall && (await step(span, 'find kept page', () => recall(caller, request)))
  if (kept !== undefined) return kept
  const input = step(span, 'validate', () => validate(operation, served.list, request))
  const binding = bindingOf(operation, caller, input)
  const place = step(span, 'open cursor', () => openPage(input, binding, api.cursorKeys))
  const after = place?.position
  const right = watchRight(() => api.stillMay?.(caller, operation.scope) ?? true)
  const read = { caller, ...input, place, after, headers, trace, request, right }
  const begunMs = systemTime.elapsedMs()
  const found = await step(span, 'read', () => served.read(read)).finally(right.end)
  // What was written cannot be taken back.
  const isLate = systemTime.elapsedMs() - begunMs > serverLimits.rightCheckedMs
  if (isLate && operation.method === 'GET') right.require()
  const answer = step(span, 'close page', () => {
    return closePage(operation, input, found, binding, api.cursorKeys)
  })
  found.keep?.(answer)
  const sent = operation.method === 'GET' ? unlessMatched(answer, headers['if-none-match']) : answer
  const { deed } = found
  return deed === undefined ? sent : { ...sent, deed }
}

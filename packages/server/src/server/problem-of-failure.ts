import { printInstant } from '@bursar/base'
import { type Answer, echo, jsonAnswer, Problem, problem, type Request } from '@bursar/contract'
import { EventsUnknown, PastUnknown, PlaceLost, StoreUnavailable } from '@bursar/records'

/**
 * Maps a failure to the problem to answer. A Problem is itself, a store that cannot answer is a
 * 503. A time from before records are kept, or a cursor from before events are, is a 410. Anything
 * else is a defect of ours and a bare 500, whose cause only the log sees.
 */
export function problemOf(failure: unknown): Problem {
  if (failure instanceof Problem) return failure
  if (failure instanceof StoreUnavailable) {
    return problem('unavailable', 'the store is not available, try again shortly', {
      retryAfter: Math.max(1, Math.ceil((failure.retryAfterMs ?? 0) / 1000)),
      cause: failure,
    })
  }
  if (failure instanceof PastUnknown) return pastUnknown(failure)
  if (failure instanceof EventsUnknown) return problem('gone', eventsGone)
  if (failure instanceof PlaceLost) return problem('gone', placeLost)
  return problem('defect', 'something broke on our side; name the request_id when you report it', {
    cause: failure,
  })
}

const eventsGone =
  'events after this cursor are gone; read the lists, then the events without page_cursor'

const placeLost = 'what this cursor comes after is gone; read the list again without page_cursor'

function pastUnknown({ kind, keptSince }: PastUnknown): Problem {
  const since = printInstant(keptSince)
  const detail = `${kind} of this customer are kept since ${since}; earlier states are unknown`
  return problem('gone', detail, { meta: { kept_since: since } })
}

/** Renders a problem as problem+json (RFC 9457). */
export function renderProblem(
  problem: Problem,
  { id, path }: Pick<Request, 'id' | 'path'>,
): Answer & { readonly body: string } {
  return jsonAnswer(
    {
      type: problem.slug === undefined ? 'about:blank' : `/problems/${problem.slug}`,
      title: problem.title,
      status: problem.status,
      detail: problem.detail,
      instance: uriReference(echo(path)),
      request_id: id,
      ...(problem.meta !== undefined && { meta: problem.meta }),
    },
    {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...problem.headers,
    },
    problem.status,
  )
}

/** Escapes what a URI may not hold (RFC 3986), and cuts the result without splitting an escape. */
const uriReference = (path: string): string =>
  path
    .replaceAll('[withheld]', '(withheld)')
    .replace(/%(?![0-9a-f]{2})|[^\w.~!$&'()*+,;=:@/%-]/gi, encodeURIComponent)
    .slice(0, 100)
    .replace(/%[0-9a-f]?$/i, '')

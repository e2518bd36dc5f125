import { echo, Problem } from '../contract/problem.ts'
import type { Answer, Request } from './exchange.ts'

/** A problem as bytes (RFC 9457). Anything that is no Problem is a bare 500: what broke is for the log alone. */
export function problemAnswer(
  error: unknown,
  request: Pick<Request, 'id' | 'path'>,
): Answer & { readonly body: string } {
  const problem = error instanceof Problem ? error : unexpected(error)
  return {
    status: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...problem.headers,
    },
    body: JSON.stringify({
      type: problem.slug === undefined ? 'about:blank' : `/problems/${problem.slug}`,
      title: problem.title,
      status: problem.status,
      detail: problem.detail,
      instance: echo(request.path),
      request_id: request.id,
      ...(problem.meta !== undefined && { meta: problem.meta }),
    }),
  }
}

function unexpected(cause: unknown): Problem {
  return new Problem(500, 'something broke on our side; name the request_id when you report it', {
    cause,
  })
}

export function jsonAnswer(value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  }
}

/** 304 where the caller holds this very page (RFC 9110 section 13.1.2, weak comparison). */
export function unlessHeld(answer: Answer, ifNoneMatch: string | undefined): Answer {
  const etag = answer.headers.etag
  if (etag === undefined || ifNoneMatch === undefined) return answer
  const weak = (tag: string) => tag.trim().replace(/^W\//, '')
  const held = ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || weak(tag) === weak(etag))
  if (!held) return answer
  answer.sent?.()
  return { status: 304, headers: answer.headers, body: undefined }
}

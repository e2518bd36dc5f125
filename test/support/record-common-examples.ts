import assert from 'node:assert/strict'
import { problem } from '@bursar/contract'
import { StoreUnavailable } from '@bursar/records'
import type {
  Example,
  OperationExamples,
} from '../../packages/server/src/documents/openapi-examples.ts'
import { problemOf, renderProblem } from '../../packages/server/src/server/problem-of-failure.ts'
import type { Called, TestService } from './harness.ts'
import { rawRequest, rawSocket } from './raw-request.ts'

/** A request that the API refuses for what every operation refuses. */
export type CommonRequest = {
  readonly path: string
  /** A path that takes a small body. */
  readonly writePath: string
  /** A token of the API, and one that it refuses; absent where the API takes none. */
  readonly tokens?: { readonly good: string; readonly other: string; readonly limited: string }
  readonly requestId: string
}

/** The answers that every operation of an API may give, by status. */
export async function recordCommon(
  service: TestService,
  limited: TestService,
  { path, writePath, tokens, requestId }: CommonRequest,
): Promise<OperationExamples> {
  const named = { 'x-request-id': requestId }
  const at = (instance: string) => ({ id: requestId, path: instance })
  const example = (summary: string, text: string): Example => ({
    summary,
    value: JSON.parse(text, (name, value) => (name === 'request_id' ? requestId : value)),
  })
  const told = (
    summary: string,
    { status, text }: Pick<Called, 'status' | 'text'>,
    wanted: number,
  ) => {
    assert.equal(status, wanted, text)
    return example(summary, text)
  }
  const rendered = (summary: string, failure: unknown, instance = path): Example =>
    example(summary, renderProblem(problemOf(failure), at(instance)).body)
  const raw = (method: string, sentTo: string, headers: readonly string[], body?: string) =>
    rawRequest(service.url, sentTo, {
      method,
      headers: ['x-request-id', requestId, ...headers],
      ...(body !== undefined && { body }),
    })
  const bearer = tokens === undefined ? [] : ['authorization', `Bearer ${tokens.good}`]
  const large = JSON.stringify({ note: 'x'.repeat(17_000) })
  const long = `GET ${path}?x=${'x'.repeat(300_000)} HTTP/1.1\r\nhost: x\r\n\r\n`
  const longAnswer = await rawSocket(service.url, long)
  const hostless = await rawRequest(service.url, path, {
    headers: [...bearer, 'x-request-id', requestId, 'host', 'a'],
  })
  return {
    parameters: {},
    bodies: {},
    answers: {
      400: { 'two-hosts': told('Two Host headers', hostless, 400) },
      ...(tokens === undefined
        ? {
            403: {
              'other-site': told(
                'A page of another site',
                await raw('GET', path, ['origin', 'https://site.example']),
                403,
              ),
            },
          }
        : {
            401: { 'no-token': told('No Authorization header', await raw('GET', path, []), 401) },
            403: {
              'other-token': told(
                'A token that may not call this',
                await service.call(path, { token: tokens.other, headers: named }),
                403,
              ),
            },
          }),
      405: { 'other-method': told('Another method', await raw('PATCH', path, bearer), 405) },
      408: {
        slow: rendered(
          'A body that did not come',
          problem('notSentInTime', 'the request was not sent whole in time'),
          '',
        ),
      },
      413: { 'large-body': told('A large body', await raw('POST', writePath, bearer, large), 413) },
      415: {
        coded: told(
          'A compressed body',
          await raw('POST', writePath, [...bearer, 'content-encoding', 'br'], '{}'),
          415,
        ),
      },
      417: {
        expect: told(
          'Another expectation',
          await raw('POST', writePath, [...bearer, 'expect', 'tea'], '{}'),
          417,
        ),
      },
      429: {
        'too-many-requests':
          tokens === undefined
            ? rendered(
                'More requests at once than the limit allows',
                problem(
                  'tooManyRequests',
                  'your address has too many requests in progress; wait for their answers',
                ),
              )
            : await tooMany(limited, path, tokens.limited),
      },
      431: {
        'long-headers': example(
          'A query that is too long',
          longAnswer.slice(longAnswer.indexOf('\r\n\r\n')),
        ),
      },
      500: { broken: rendered('Something broke', new Error()) },
      501: {
        'transfer-coding': rendered(
          'Another transfer coding',
          problem('notImplemented', 'the only Transfer-Encoding of a body is chunked'),
          writePath,
        ),
      },
      503: { store: rendered('The store cannot answer', new StoreUnavailable(undefined)) },
    },
  }

  async function tooMany(
    limitedService: TestService,
    sentTo: string,
    token: string,
  ): Promise<Example> {
    for (let sent = 0; sent < 20; sent += 1) {
      const { status, text } = await limitedService.call(sentTo, { token, headers: named })
      if (status === 429) return example('More requests than the limit allows', text)
    }
    throw new Error(`${sentTo} was never refused with 429`)
  }
}

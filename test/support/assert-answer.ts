import assert from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import type { Called } from './harness.ts'

export type ExpectedProblem = {
  readonly status: number
  readonly detail: string
  readonly instance: string
  /** `about:blank` unless given. */
  readonly type?: string
  readonly meta?: unknown
  /** Those of `www-authenticate`, `allow` and `retry-after` that the answer must have. */
  readonly headers?: Readonly<Record<string, string>>
}

const problemHeaders = ['content-type', 'cache-control', 'www-authenticate', 'allow', 'retry-after']

/**
 * Asserts the whole answer: status, headers and body (RFC 9457; decisions, section 6).
 * `given` is the value of a loop; a failure prints it.
 */
export function assertProblem(called: Called, expected: ExpectedProblem, given?: string): void {
  const { status, detail, instance, type = 'about:blank', meta, headers } = expected
  const requestId = called.headers.get('x-request-id')
  assert.deepEqual(
    { given, status: called.status, headers: headersOf(called), body: called.body },
    {
      given,
      status,
      headers: {
        'content-type': 'application/problem+json',
        'cache-control': 'no-store',
        ...headers,
      },
      body: {
        type,
        title: STATUS_CODES[status],
        status,
        detail,
        instance,
        request_id: requestId,
        ...(meta !== undefined && { meta }),
      },
    },
  )
  assert.match(String(requestId), /^\S{8,128}$/)
}

function headersOf({ headers }: Called): Readonly<Record<string, string>> {
  const found = problemHeaders.map((name) => [name, headers.get(name)])
  return Object.fromEntries(found.filter(([, value]) => value !== null))
}

export type ParameterErrors = readonly (readonly [parameter: string, reason: string])[]

/** Asserts a 400 that names each invalid parameter once, in the order of their declaration. */
export function assertParameterErrors(
  called: Called,
  instance: string,
  errors: ParameterErrors,
  given?: string,
): void {
  const expected = {
    status: 400,
    detail: errors.map((error) => error.join(' ')).join('; '),
    instance,
    meta: { errors: errors.map(([parameter, reason]) => ({ parameter, reason })) },
  }
  assertProblem(called, expected, given)
}

/** Asserts a list's 200: status, caching headers and the whole body. */
export function assertPage(called: Called, body: object): void {
  assert.equal(called.status, 200, called.text)
  assert.equal(called.headers.get('content-type'), 'application/json')
  assert.equal(called.headers.get('cache-control'), 'private, no-cache')
  assert.match(called.headers.get('etag') ?? '', /^W\/"/)
  assert.deepEqual(called.body, body)
}

import assert from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import type { Called } from './harness.ts'

type ExpectedProblem = {
  readonly status: number
  readonly detail: string
  readonly instance: string
  readonly meta?: unknown
  readonly authenticate?: string
}

/** The whole answer of a problem, RFC 9457 as decisions section 6 lays it out. */
export function assertProblem(called: Called, expected: ExpectedProblem): void {
  const { status, detail, instance, meta, authenticate } = expected
  const requestId = called.headers.get('x-request-id')
  assert.deepEqual(
    {
      status: called.status,
      contentType: called.headers.get('content-type'),
      cacheControl: called.headers.get('cache-control'),
      authenticate: called.headers.get('www-authenticate'),
      body: called.body,
    },
    {
      status,
      contentType: 'application/problem+json',
      cacheControl: 'no-store',
      authenticate: authenticate ?? null,
      body: {
        type: 'about:blank',
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

/** The 400 of parameters that are not of their form: each told once, in the order in which they are declared. */
export function assertFaults(
  called: Called,
  instance: string,
  faults: readonly (readonly [parameter: string, reason: string])[],
): void {
  assertProblem(called, {
    status: 400,
    detail: faults.map((fault) => fault.join(' ')).join('; '),
    instance,
    meta: { errors: faults.map(([parameter, reason]) => ({ parameter, reason })) },
  })
}

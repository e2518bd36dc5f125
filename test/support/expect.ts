import assert from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import type { ParameterFault } from '../../src/contract/problem.ts'
import type { Called } from './harness.ts'

type ExpectedProblem = {
  readonly status: number
  readonly detail: string
  readonly instance: string
  readonly errors?: readonly ParameterFault[]
}

/** The whole answer must be this problem, and its request id the header's. */
export function assertProblem(called: Called, expected: ExpectedProblem): void {
  assert.equal(called.status, expected.status, called.text)
  assert.equal(called.headers.get('content-type'), 'application/problem+json')
  assert.equal(called.headers.get('cache-control'), 'no-store')
  assert.deepEqual(called.body, {
    type: 'about:blank',
    title: STATUS_CODES[expected.status],
    status: expected.status,
    detail: expected.detail,
    instance: expected.instance,
    request_id: called.headers.get('x-request-id'),
    ...(expected.errors !== undefined && { meta: { errors: expected.errors } }),
  })
}

/** A 400 of one parameter. */
export function assertFault(
  called: Called,
  instance: string,
  parameter: string,
  reason: string,
): void {
  assertProblem(called, {
    status: 400,
    detail: `${parameter} ${reason}`,
    instance,
    errors: [{ parameter, reason }],
  })
}

export function assertUnauthorized(called: Called, instance: string): void {
  assert.equal(called.headers.get('www-authenticate'), 'Bearer')
  assertProblem(called, { status: 401, detail: 'no authorization header set', instance })
}

export function assertForbidden(
  called: Called,
  instance: string,
  held: string,
  needed: string,
): void {
  assert.equal(
    called.headers.get('www-authenticate'),
    `Bearer error="insufficient_scope", scope="${needed}"`,
  )
  assertProblem(called, {
    status: 403,
    detail: `insufficient scopes: found '${held}', required one of '[${needed}]'`,
    instance,
  })
}

/** A list's answer: status, caching and the whole body. */
export function assertPage(called: Called, body: object): void {
  assert.equal(called.status, 200, called.text)
  assert.equal(called.headers.get('content-type'), 'application/json')
  assert.equal(called.headers.get('cache-control'), 'private, no-cache')
  assert.match(called.headers.get('etag') ?? '', /^W\/"/)
  assert.deepEqual(called.body, body)
}

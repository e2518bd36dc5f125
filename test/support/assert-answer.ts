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

/** The code of every reason. */
const codes: readonly (readonly [RegExp, string])[] = [
  [/^must be set|nothing was sent$/, 'missing'],
  [/^must be given once$/, 'repeated'],
  [/^must not be set beside/, 'conflicting'],
  [
    /^must be uuid|^must be an RFC 3339|leap second|^must be true or|decimal digits|^token cannot/,
    'malformed',
  ],
  [/^must be between|^must be greater than/, 'out_of_range'],
  [/characters( long)?$/, 'wrong_length'],
  [/^must have at most \d+ entries/, 'too_many'],
  [/JSON string$|JSON object$/, 'wrong_type'],
  [/^must be JSON[;,] /, 'not_json'],
  [/UTF-8$|Unicode$/, 'not_utf8'],
  [/NUL$/, 'nul'],
  [/another list$/, 'other_list'],
  [/other order$/, 'other_order'],
  [/other filters$/, 'other_filters'],
  [/^must be [A-Z_]+(,| or |$)/, 'unknown_value'],
]

/** The member of `meta.errors` for a fault. */
export function errorOf(parameter: string, reason: string): object {
  const [, code] = codes.find(([pattern]) => pattern.test(reason)) ?? []
  assert.ok(code !== undefined, `the reason "${reason}" has no code`)
  assert.ok(!reason.split(/\W+/).includes(parameter), `"${reason}" repeats ${parameter}`)
  return { parameter, code, reason }
}

/**
 * Asserts a 400 that names each invalid parameter once, in the order of their declaration. `detail`
 * is given where it is not parameter and reason.
 */
export function assertParameterErrors(
  called: Called,
  instance: string,
  errors: ParameterErrors,
  given?: string,
  detail: string = errors.map((error) => error.join(' ')).join('; '),
): void {
  const meta = { errors: errors.map(([parameter, reason]) => errorOf(parameter, reason)) }
  assertProblem(called, { status: 400, detail, instance, meta }, given)
}

import assert from 'node:assert/strict'
import { invalidParameters, type Problem } from '../../contract/problem.ts'
import { type Answer, jsonAnswer, type Request, type Route } from '../../contract/request.ts'
import type {
  ControlInput,
  ControlWorks,
  SandboxOperation,
} from '../../contract/sandbox-operation.ts'
import { parseQuery } from '../../http/pipeline/parse-query.ts'
import { readBody } from '../../http/pipeline/read-body.ts'
import { validateControl } from '../../http/pipeline/validate.ts'
import { limits } from '../../platform/limits.ts'
import { refuseForeignPage } from './foreign-page.ts'

/** A route for each call. Writes run one after the other, so that none sees half of another. */
export function controlRoutes(
  operations: readonly SandboxOperation[],
  works: ControlWorks,
  publicUrl: () => string,
): Route[] {
  const inTurn = openTurns()
  return operations.map((operation) => ({
    method: operation.method,
    path: operation.path,
    operation: operation.id,
    ...(operation.body === 'ndjson' && { bodyBytesMax: limits.sandboxRecordsBytesMax }),
    answer: async (request) => {
      refuseForeignPage(request, publicUrl())
      const work = works[operation.id]
      assert(work !== undefined, `the sandbox binds no work to ${operation.id}`)
      const input = readInput(operation, request)
      const run = () => work(input)
      return answerOf(operation, await (operation.method === 'GET' ? run() : inTurn(run)))
    },
  }))
}

function readInput(operation: SandboxOperation, request: Request): ControlInput {
  const { values, ignored } = parseQuery(request.rawQuery, operation.query)
  // A mistyped filter would delete the faults of every worker.
  if (ignored.length > 0) throw unknownParameters(operation, ignored)
  const parameters = validateControl(operation, request.parameters, values)
  const { body } = operation
  const isLeftOut = operation.bodyOptional === true && request.body.length === 0
  const isRead = body !== undefined && body !== 'ndjson' && !isLeftOut
  return {
    parameters,
    body: isRead ? readBody(body, request.body) : new Map(),
    bytes: request.body,
    left: request.left,
    trace: request.trace,
  }
}

function unknownParameters({ query }: SandboxOperation, names: readonly string[]): Problem {
  const known = Object.keys(query)
  const parameters = known.length === 0 ? 'none' : known.join(', ')
  const reason = `is unknown here; the parameters are: ${parameters}`
  return invalidParameters(
    names.map((parameter) => ({ parameter, code: 'unknown_name' as const, reason })),
  )
}

function answerOf({ status }: SandboxOperation, value: object | undefined): Answer {
  const headers = { 'cache-control': 'no-store' }
  return status === 204
    ? { status, headers, body: undefined }
    : jsonAnswer(value ?? {}, headers, status)
}

function openTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let previous: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = previous.then(work)
    previous = result.catch(() => {})
    return result
  }
}

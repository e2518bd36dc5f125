import {
  type Answer,
  Problem,
  problem,
  problemOfStatus,
  type Request,
  type Route,
} from '@bursar/contract'
import { DeedFailed } from '@bursar/records'
import { problemOf, renderProblem } from './problem-of-failure.ts'
import { bodyTooLarge } from './refusals.ts'

/** The answer to a failure, which the trace notes for the log. */
export function problemAnswer(
  error: unknown,
  { id, path, trace }: Pick<Request, 'id' | 'path' | 'trace'>,
  render?: Route['renderProblem'],
): Answer {
  if (error instanceof DeedFailed) {
    const { deed, cause } = error
    return { ...problemAnswer(cause, { id, path, trace }, render), deed }
  }
  const problem = problemOf(ofFramework(error))
  const isUnexpected = problem.status === 500
  trace.problem = problem.slug ?? problem.title
  // A 503 without another cause has its sentence as one, so that the log always says why.
  trace.cause = problem.cause ?? (problem.status === 503 ? problem : undefined)
  const rendered = isUnexpected ? undefined : render?.(problem)
  return rendered ?? renderProblem(problem, { id, path })
}

/** Turns Fastify's own refusals into problems. */
function ofFramework(error: unknown): unknown {
  if (error instanceof Problem) return error
  const { statusCode, code } = error as { statusCode?: number; code?: string }
  if (statusCode === 413) return bodyTooLarge()
  if (code === 'FST_ERR_BAD_URL')
    return problem('malformed', 'the path has a malformed percent escape')
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return problemOfStatus(
      statusCode,
      'the request cannot be read; check its headers and its length',
    )
  }
  return error
}

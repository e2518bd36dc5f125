import { problem } from '../../contract/problem.ts'
import type { Answer, Request } from '../../contract/request.ts'
import { type Logger, logStateOf } from '../../platform/log.ts'
import { problemAnswer } from './problem-answer.ts'

export type LogAccess = (request: Request, answer: Answer) => Answer

/**
 * Writes one line for each answer that shows records in full or exports them, before the first byte
 * of the answer. A caller that leaves in the middle has seen some of it. No level switches these
 * lines off. Where the log drops the line, because nobody reads it, the answer is 503.
 */
export function openAccessLog(log: Logger): LogAccess {
  const accessLog = log.child({}, { level: 'info' })
  const dropped = () => logStateOf(log)?.dropped
  return (request, answer) => {
    const { access, rows } = request.trace
    // An answer of 304 shows what the caller has seen before.
    if (access === undefined || answer.status >= 400) return answer
    const before = dropped()
    const counted = rows === undefined ? {} : { rows }
    accessLog.info({ ...access, ...counted, requestId: request.id }, 'access')
    if (dropped() === before) return answer
    answer.sent?.()
    return problemAnswer(unlogged(), request)
  }
}

const unlogged = () =>
  problem(
    'unavailable',
    'the access cannot be logged, because nobody reads the log; try again later',
    {
      retryAfter: 1,
    },
  )

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { Problem } from '../../contract/problem.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { logRequest } from './request-log.ts'
import { renderProblem } from './respond.ts'

const brokenRequests: Readonly<Record<string, { status: number; detail: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    detail: `the request line and headers must have at most ${limits.headerBytesMax} bytes and ${limits.headersMax} headers`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'the request was not sent whole in time' },
}

/** Answers bytes that are not HTTP on the bare socket. The log line holds nothing of them. */
export function brokenRequestAnswerer(log: Logger) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const { status, detail } = brokenRequests[error.code ?? ''] ?? {
      status: 400,
      detail: 'the request is not well-formed HTTP',
    }
    const problem = new Problem(status, detail)
    const id = randomUUID()
    const { body } = renderProblem(problem, { id, path: '' })
    socket.end(
      [
        `HTTP/1.1 ${status} ${problem.title}`,
        'content-type: application/problem+json',
        `content-length: ${Buffer.byteLength(body)}`,
        `x-request-id: ${id}`,
        'connection: close',
        '',
        body,
      ].join('\r\n'),
    )
    const trace = { problem: problem.title }
    logRequest(log, { trace, id, method: 'none', status, durationMs: 0 })
  }
}

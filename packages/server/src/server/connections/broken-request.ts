import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { dateOf, type Logger, limitsOf, systemTime } from '@bursar/base'
import { type Problem, problem } from '@bursar/contract'
import type { Cors } from '../cors.ts'
import { renderProblem } from '../problem-of-failure.ts'
import { headersTooLarge } from '../refusals.ts'
import { logRequest } from '../request-log.ts'

const limits = limitsOf({
  /** How long the answer to a request that is not HTTP may take to reach the caller. */
  brokenRequestLingerMs: 5000,
})

/** An error of Node's HTTP parser. `rawPacket` are the bytes that it read, as far as it came. */
type BrokenRequest = Error & {
  readonly code?: string
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

/** The last request of a connection whose headers were read. */
export type LastRequest = { request: IncomingMessage; response: ServerResponse }

/** Answers bytes that are not HTTP on the bare socket. The log line holds nothing of them. */
export function brokenRequestAnswerer(
  { log, cors }: { readonly log: Logger; readonly cors: Cors },
  lastRequestOf: (socket: Duplex) => LastRequest | undefined,
) {
  const waiting = new WeakSet<Duplex>()
  const answered = new WeakSet<Duplex>()
  return (error: BrokenRequest, socket: Duplex): void => {
    // Bytes that still arrive are read and dropped. Closing now would reset the connection before
    // the caller has read its answer.
    if (answered.has(socket) && error.code !== 'ECONNRESET') return
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const last = lastRequestOf(socket)
    const answer = () => {
      answered.add(socket)
      // The headers of a request whose body broke were read; those of another one were not.
      const isBody = last !== undefined && !last.request.complete
      const headers = isBody
        ? cors.headers(last.request.headers.origin)
        : cors.headersOfBroken(error.rawPacket)
      answerOnSocket(socket, problemOf(error), { log, headers })
    }
    if (last === undefined || last.response.writableFinished) answer()
    else if (last.request.complete) {
      // Answers are sent in the order of their requests, so this one waits for those before it.
      if (!waiting.has(socket)) last.response.once('close', answer)
      waiting.add(socket)
    } else if (last.response.headersSent) {
      // The broken bytes belong to a body whose request is answered already.
      endSocket(socket)
    } else answer()
  }
}

/** Answers a request that no route can see, and closes its connection. */
export function answerOnSocket(
  socket: Duplex,
  problem: Problem,
  { log, headers }: { readonly log: Logger; readonly headers: ReturnType<Cors['headers']> },
): void {
  const id = randomUUID()
  const { status, headers: own, body } = renderProblem(problem, { id, path: '' })
  const lines = {
    ...headers,
    ...own,
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': id,
    'x-content-type-options': 'nosniff',
    date: dateOf(systemTime.now()).toUTCString(),
    connection: 'close',
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  // The caller may be gone, which is no failure of ours.
  socket.on('error', () => {})
  endSocket(socket, `HTTP/1.1 ${status} ${problem.title}\r\n${head.join('')}\r\n${body}`)
  logRequest(log, {
    trace: { problem: problem.title },
    id,
    method: 'none',
    status,
    durationMs: 0,
  })
}

/** A caller that keeps its side open would keep the connection, so that has a deadline. */
function endSocket(socket: Duplex, text = ''): void {
  const cancel = systemTime.after(limits.brokenRequestLingerMs, () => socket.destroy())
  socket.once('close', cancel)
  socket.end(text)
}

export const methods = 'GET, HEAD, POST'

function problemOf(error: BrokenRequest): Problem {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return headersTooLarge()
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem('notSentInTime', 'the request was not sent whole in time')
    case 'HPE_INVALID_METHOD':
      if (hasRequestLine(error)) {
        return problem('notImplemented', `the method is not known here; use one of ${methods}`)
      }
  }
  return problem('malformed', 'the request is not well-formed HTTP')
}

/** Tells an unknown method from bytes that are no HTTP at all. */
function hasRequestLine({ rawPacket, bytesParsed = 0 }: BrokenRequest): boolean {
  if (rawPacket === undefined) return false
  const start = rawPacket.lastIndexOf('\n', bytesParsed) + 1
  const end = rawPacket.indexOf('\n', start)
  const line = rawPacket.toString('latin1', start, end < 0 ? rawPacket.length : end)
  return /^[\w!#$%&'*+.^`|~-]+ [^ ]+ HTTP\/1\.[01]\r?$/.test(line)
}

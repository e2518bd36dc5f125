import { type Logger, systemTime } from '@bursar/base'
import type { Answer } from '@bursar/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cutForwardedFor, pathOf } from './bound-request.ts'
import type { Draining } from './connections/drain.ts'
import type { Cors } from './cors.ts'
import { peerAddress } from './peer-address.ts'
import { problemAnswer } from './problem-answer.ts'
import { logRequest, type Served } from './request-log.ts'
import { breakOff, type Headers, headersOf, send } from './send.ts'
import type { TraceRequests } from './trace-requests.ts'

/** What every request passes before its route, and every answer behind it. */
export type Frame = {
  begin(raw: FastifyRequest, reply: FastifyReply): void
  send(answer: Answer, raw: FastifyRequest, reply: FastifyReply): void
  sendProblem(error: unknown, raw: FastifyRequest, reply: FastifyReply): void
}

type FrameOptions = {
  readonly log: Logger
  readonly draining: Readonly<Draining>
  readonly cors: Cors
  readonly logsIgnoredParameters: boolean
  readonly served: ((served: Served) => void) | undefined
  readonly traceRequests: TraceRequests
  /** Learns that an answer is sent, or its client gone. */
  readonly ended: (raw: FastifyRequest) => void
}

export function openFrame(options: FrameOptions): Frame {
  const { log, draining, cors, logsIgnoredParameters, served, traceRequests, ended } = options
  const logServed = (raw: FastifyRequest, reply: FastifyReply) => {
    const request: Served = {
      trace: raw.trace,
      logsIgnoredParameters,
      id: raw.id,
      method: raw.method,
      status: reply.statusCode,
      durationMs: systemTime.elapsedMs() - raw.begunAt,
      address: raw.address,
    }
    logRequest(log, request)
    served?.(request)
  }
  const common = ({ id, headers }: FastifyRequest): Headers => ({
    'x-request-id': id,
    // On every answer: a 304 and a small one too must tell caches that others may be compressed.
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    ...cors.headers(headers.origin),
    ...(draining.answersClose && { connection: 'close' }),
  })
  const sendAnswer = (
    answer: Answer,
    raw: FastifyRequest,
    reply: FastifyReply,
    hasFrameworkHeaders: boolean,
  ) => {
    const { raw: response } = reply.hijack()
    const own = hasFrameworkHeaders ? { ...common(raw), ...reply.getHeaders() } : common(raw)
    const headers = headersOf(answer, own, raw.trace)
    const { fault } = raw.trace
    if (fault !== 'cut' && fault !== 'truncated') return send(response, answer, headers)
    breakOff(response, answer, headers, fault)
    logServed(raw, reply)
  }
  return {
    begin: (raw, reply) => {
      raw.begunAt = systemTime.elapsedMs()
      raw.trace = traceRequests.begin(raw)
      cutForwardedFor(raw.headers)
      // Once, since Fastify compares each forwarded address with every trusted proxy.
      raw.address = peerAddress(raw)
      reply.raw.on('finish', () => logServed(raw, reply))
      reply.raw.on('close', () => {
        traceRequests.end(raw, reply.raw)
        ended(raw)
      })
    },
    send: (answer, raw, reply) => sendAnswer(answer, raw, reply, false),
    sendProblem: (error, raw, reply) => {
      const request = { id: raw.id, path: pathOf(raw.originalUrl), trace: raw.trace }
      // The framework closes the connection of a body that is too large.
      sendAnswer(problemAnswer(error, request), raw, reply, true)
    },
  }
}

import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { limitsOf } from '@bursar/base'
import { problem, type Request } from '@bursar/contract'
import type { FastifyRequest } from 'fastify'
import { pathOf } from './bound-request.ts'

const limits = limitsOf({
  /** A request id that a caller or a proxy gives. */
  requestIdLengthMax: 128,
})

/** The request, free of the web framework. */
export function requestOf(raw: FastifyRequest, response: ServerResponse): Request {
  const { url } = raw
  const cut = url.indexOf('?')
  return {
    method: raw.method,
    path: pathOf(url),
    rawQuery: cut < 0 ? '' : url.slice(cut + 1),
    parameters: raw.params as Readonly<Record<string, string>>,
    headers: raw.headers,
    rawHeaders: raw.raw.rawHeaders,
    body: Buffer.isBuffer(raw.body) ? raw.body : noBody,
    content: raw.body instanceof Readable ? raw.body : undefined,
    connection: raw.raw.socket,
    address: raw.address,
    id: raw.id,
    left: () => leftOf(response),
    rest: () => raw.admission?.rest() ?? (() => {}),
    trace: raw.trace,
  }
}

const noBody = Buffer.alloc(0)

/** Node tells of a connection that closes by the response, also once the body was read. */
function leftOf(response: ServerResponse): AbortSignal {
  const left = new AbortController()
  const leave = () => {
    if (!response.writableFinished) left.abort(problem('notSentInTime', 'the caller has left'))
  }
  if (response.closed) leave()
  else response.once('close', leave)
  return left.signal
}

/** Keeps the caller's request id where it is safe in a header and a log. */
export function requestId(given: string | string[] | undefined): string {
  const isUsable =
    typeof given === 'string' &&
    given.length <= limits.requestIdLengthMax &&
    /^[A-Za-z0-9._:/+=-]+$/.test(given)
  return isUsable ? given : randomUUID()
}

import type { ServerResponse } from 'node:http'
import { type Recorder, readTraceparent } from '@bursar/base'
import { isFailure, type Trace } from '@bursar/contract'
import type { FastifyRequest } from 'fastify'

export type TraceRequests = {
  begin(raw: FastifyRequest): Trace
  /** Ends the span of a request whose connection is done with it, answered or not. */
  end(raw: FastifyRequest, response: ServerResponse): void
}

/**
 * Takes over the trace of the caller, always. Where traces are sent, begins the span of the
 * request. A request that names no trace gets none in the log: it has an id of its own.
 */
export const openTraceRequests = (tracing: Recorder | undefined): TraceRequests => ({
  begin: ({ headers, routeOptions }) => {
    const { traceparent } = headers
    if (traceparent === undefined && tracing === undefined) return {}
    const caller = traceparent === undefined ? undefined : readTraceparent(traceparent)
    if (tracing !== undefined && routeOptions.config.isProbe !== true) return tracing.begin(caller)
    return caller === undefined ? {} : { context: caller }
  },
  end: ({ trace, method, routeOptions }, response) => {
    const { span, responding } = trace
    if (span === undefined) return
    responding?.end()
    const { url: route } = routeOptions
    const named = knownMethods.has(method) ? method : '_OTHER'
    const isKnown = route !== undefined && route !== '*'
    span.rename(isKnown ? `${named} ${route}` : named)
    const { statusCode } = response
    span.set({
      'http.request.method': named,
      ...(isKnown && { 'http.route': route }),
      ...(response.writableFinished && { 'http.response.status_code': statusCode }),
      ...(trace.operation !== undefined && { 'bursar.operation': trace.operation }),
      ...(trace.problem !== undefined && { 'bursar.problem': trace.problem }),
      ...(trace.rows !== undefined && { 'bursar.rows': trace.rows }),
    })
    if (!response.writableFinished) span.end({ code: 'CLIENT_LEFT' })
    else span.end(isFailure(statusCode) ? { code: String(statusCode) } : undefined)
  },
})

/** Any other name is the caller's text. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])

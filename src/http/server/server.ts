import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { Problem } from '../../contract/problem.ts'
import type { Answer, Request, Route, Trace } from '../../contract/request.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { brokenRequestAnswerer } from './broken-request.ts'
import { logRequest } from './request-log.ts'
import { problemOf, renderProblem } from './respond.ts'
import { takeBodiesAsBytes } from './take-bodies.ts'
import { openUnknownRoute } from './unknown-route.ts'

declare module 'fastify' {
  interface FastifyRequest {
    trace: Trace
  }
}

export type ServerOptions = {
  readonly routes: readonly Route[]
  readonly log: Logger
  readonly corsOrigins: readonly string[]
  readonly trustedProxies: readonly string[]
  /** Names of parameters are the caller's text, so only the sandbox logs them. */
  readonly logsIgnoredParameters: boolean
  /** Fastify plugins of parts that bring their own: the API page. */
  readonly plugins: readonly ((server: FastifyInstance) => Promise<void>)[]
}

export type Server = {
  /** Resolves with the URL of the listening socket. */
  listen(host: string, port: number): Promise<string>
  /** Refuses new requests, answers those in flight, then resolves. */
  close(): Promise<void>
}

export async function buildServer(options: ServerOptions): Promise<Server> {
  const server = fastify({
    logger: false,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    routerOptions: { maxParamLength: limits.headerBytesMax },
    http: {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: 1000,
      // Node would answer a request without Host with a bare 400; the onRequest hook explains it.
      requireHostHeader: false,
    },
    genReqId: (raw) => requestId(raw.headers['x-request-id']),
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, raw, reply) => {
      // Framework errors pass no hook, so this does the work of the hooks.
      raw.trace = {}
      reply.headers(commonHeaders(raw))
      sendProblem(error, raw, reply)
      logServed(options, raw, reply)
    },
    clientErrorHandler: brokenRequestAnswerer(options.log),
  })
  server.server.maxConnections = limits.connectionsMax
  const draining = { now: false }
  server.decorateRequest('trace')
  takeBodiesAsBytes(server)
  addHooks(server, options, draining)
  if (options.corsOrigins.length > 0) {
    await server.register(cors, {
      origin: [...options.corsOrigins],
      allowedHeaders: ['authorization', 'content-type', 'if-none-match', 'x-request-id'],
      exposedHeaders: [
        ...['etag', 'retry-after', 'x-request-id', 'www-authenticate'],
        'x-ignored-parameters',
        ...['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
      ],
      strictPreflight: false,
      maxAge: 600,
    })
  }
  for (const plugin of options.plugins) await server.register(plugin)
  for (const route of options.routes) addRoute(server, route)
  return {
    listen: async (host, port) => server.listen({ host, port }),
    close: async () => {
      draining.now = true
      const deadline = setTimeout(() => server.server.closeAllConnections(), limits.drainTimeoutMs)
      await server.close()
      clearTimeout(deadline)
    },
  }
}

function addRoute(server: FastifyInstance, route: Route): void {
  server.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    // Fastify's own HEAD route would give a 304 a Content-Length.
    exposeHeadRoute: false,
    url: route.path,
    handler: async (raw, reply) => {
      const request = requestOf(raw)
      request.trace.operation = route.operation
      try {
        return send(reply, await route.answer(request))
      } catch (error) {
        return sendProblem(error, raw, reply, route.renderProblem)
      }
    },
  })
}

function addHooks(
  server: FastifyInstance,
  options: ServerOptions,
  draining: { readonly now: boolean },
): void {
  const unknownRoute = openUnknownRoute(options.routes)
  server.addHook('onRequest', (raw, reply, done) => {
    raw.trace = {}
    reply.headers(commonHeaders(raw))
    done(refusalOf(raw, draining.now, unknownRoute))
  })
  // While draining, each answer closes its connection, since an open one would delay the shutdown.
  server.addHook('onSend', (_raw, reply, _payload, done) => {
    if (draining.now) reply.header('connection', 'close')
    done()
  })
  server.addHook('onResponse', (raw, reply, done) => {
    logServed(options, raw, reply)
    done()
  })
  server.setErrorHandler((error, raw, reply) => sendProblem(error, raw, reply))
}

/** Checks that need no body. Route and method come first. */
function refusalOf(
  raw: FastifyRequest,
  isDraining: boolean,
  unknownRoute: (path: string) => Problem,
): Problem | undefined {
  if (isDraining) {
    return new Problem(503, 'the service is shutting down; send the request again', {
      headers: { 'retry-after': '1' },
    })
  }
  if (raw.headers.host === undefined && raw.raw.httpVersion === '1.1') {
    return new Problem(400, 'the request must have a Host header')
  }
  // The router has decoded this path already, so decoding cannot fail here.
  return raw.is404 ? unknownRoute(decodeURIComponent(pathOf(raw))) : undefined
}

const commonHeaders = (raw: FastifyRequest) => ({
  'x-request-id': raw.id,
  'x-content-type-options': 'nosniff',
})

function logServed(
  { log, logsIgnoredParameters }: ServerOptions,
  raw: FastifyRequest,
  reply: FastifyReply,
): void {
  logRequest(log, {
    trace: raw.trace,
    logsIgnoredParameters,
    id: raw.id,
    method: raw.method,
    status: reply.statusCode,
    durationMs: reply.elapsedTime,
  })
}

const identity = (body: string): string => body
const pathOf = (raw: FastifyRequest): string => raw.url.split('?', 1)[0] ?? ''

function requestOf(raw: FastifyRequest): Request {
  const cut = raw.url.indexOf('?')
  return {
    method: raw.method,
    path: pathOf(raw),
    rawQuery: cut < 0 ? '' : raw.url.slice(cut + 1),
    parameters: raw.params as Readonly<Record<string, string>>,
    headers: raw.headers,
    rawHeaders: raw.raw.rawHeaders,
    body: Buffer.isBuffer(raw.body) ? raw.body : Buffer.alloc(0),
    address: raw.ip,
    id: raw.id,
    trace: raw.trace,
  }
}

const ignoredHeader = ({ ignoredParameters }: Trace): Record<string, string> =>
  ignoredParameters === undefined ? {} : { 'x-ignored-parameters': ignoredParameters.join(', ') }

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  reply
    .code(answer.status)
    .header('content-type', 'application/json')
    .headers(reply.request.trace.limitHeaders ?? {})
    .headers(ignoredHeader(reply.request.trace))
    .headers(answer.headers)
  if (answer.sent !== undefined) reply.raw.once('finish', answer.sent)
  // Without a serializer Fastify would add a charset to the content type, which JSON does not
  // define.
  return reply.serializer(identity).send(answer.body)
}

function sendProblem(
  error: unknown,
  raw: FastifyRequest,
  reply: FastifyReply,
  render?: Route['renderProblem'],
): FastifyReply {
  const problem = problemOf(ofFramework(error))
  const isUnexpected = problem.status === 500
  raw.trace.problem = problem.slug ?? problem.title
  raw.trace.cause = problem.cause
  const answer =
    render === undefined || isUnexpected
      ? renderProblem(problem, { id: raw.id, path: pathOf(raw) })
      : render(problem)
  return send(reply, answer)
}

/** Turns Fastify's own refusals into problems. */
function ofFramework(error: unknown): unknown {
  if (error instanceof Problem) return error
  const { statusCode, code } = error as { statusCode?: number; code?: string }
  if (statusCode === 413) {
    return new Problem(413, `the body must have at most ${limits.bodyBytesMax} bytes`)
  }
  if (code === 'FST_ERR_BAD_URL') return new Problem(400, 'the path has a malformed percent escape')
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new Problem(statusCode, 'the request cannot be read; check its headers and its length')
  }
  return error
}

/** Keeps the caller's request id where it is safe in a header and a log. */
function requestId(given: string | string[] | undefined): string {
  const isUsable =
    typeof given === 'string' &&
    given.length <= limits.requestIdLengthMax &&
    /^[A-Za-z0-9._:/+=-]+$/.test(given)
  return isUsable ? given : randomUUID()
}

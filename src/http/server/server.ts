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
  /** Mounts what brings its own Fastify plugin: the API page. */
  readonly plugins: readonly ((server: FastifyInstance) => Promise<void>)[]
}

export type Server = {
  /** Resolves with the URL that is listened on. */
  listen(host: string, port: number): Promise<string>
  /** Refuses what is new, answers what is in flight, then resolves. */
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
      // Node would answer a request without Host bare; the onRequest hook says what is missing.
      requireHostHeader: false,
    },
    genReqId: (raw) => requestId(raw.headers['x-request-id']),
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, raw, reply) => {
      // These never pass a hook, so what hooks do is done here.
      raw.trace = {}
      reply.headers(commonHeaders(raw))
      sendProblem(error, raw, reply)
      logServed(options.log, raw, reply)
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
    // The framework's own HEAD gives a 304 a length.
    exposeHeadRoute: false,
    url: route.path,
    errorHandler: (error, raw, reply) => sendProblem(error, raw, reply, route.renderProblem),
    handler: async (raw, reply) => {
      const request = requestOf(raw)
      request.trace.operation = route.operation
      return send(reply, await route.answer(request))
    },
  })
}

function addHooks(
  server: FastifyInstance,
  { routes, log }: ServerOptions,
  draining: { readonly now: boolean },
): void {
  const paths = routes.map((route) => ({ ...route, pattern: patternOf(route.path) }))
  server.addHook('onRequest', (raw, reply, done) => {
    raw.trace = {}
    reply.headers(commonHeaders(raw))
    done(refusalOf(raw, paths, draining.now))
  })
  // What was in flight is answered, and its connection ends with that; an open one would hold the shutdown up.
  server.addHook('onSend', (_raw, reply, _payload, done) => {
    if (draining.now) reply.header('connection', 'close')
    done()
  })
  server.addHook('onResponse', (raw, reply, done) => {
    logServed(log, raw, reply)
    done()
  })
  server.setErrorHandler((error, raw, reply) => sendProblem(error, raw, reply))
}

/** What is judged before the body is read: route and method are the first thing. */
function refusalOf(
  raw: FastifyRequest,
  paths: readonly KnownPath[],
  isDraining: boolean,
): Problem | undefined {
  if (isDraining) {
    return new Problem(503, 'the service is shutting down; send the request again', {
      headers: { 'retry-after': '1' },
    })
  }
  if (raw.headers.host === undefined && raw.raw.httpVersion === '1.1') {
    return new Problem(400, 'the request must have a Host header')
  }
  return raw.is404 ? unknownRoute(raw, paths) : undefined
}

const commonHeaders = (raw: FastifyRequest) => ({
  'x-request-id': raw.id,
  'x-content-type-options': 'nosniff',
})

function logServed(log: Logger, raw: FastifyRequest, reply: FastifyReply): void {
  logRequest(log, {
    trace: raw.trace,
    id: raw.id,
    method: raw.method,
    status: reply.statusCode,
    durationMs: reply.elapsedTime,
  })
}

type KnownPath = { readonly pattern: RegExp; readonly method: string }

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:[a-z]+/g, '[^/]*')}$`)
}

function unknownRoute(raw: FastifyRequest, paths: readonly KnownPath[]): Problem {
  // Only what the router could decode comes here; it matches decoded paths too.
  const path = decodeURIComponent(pathOf(raw))
  const methods = paths.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  if (methods.length === 0) {
    return new Problem(404, 'there is nothing at this path; /openapi.json lists every operation')
  }
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  return new Problem(405, `the method must be ${allowed.join(' or ')}`, {
    headers: { allow: allowed.join(', ') },
  })
}

const asItIs = (body: string): string => body
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

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  reply
    .code(answer.status)
    .header('content-type', 'application/json')
    .headers(reply.request.trace.limitHeaders ?? {})
    .headers(answer.headers)
  if (answer.sent !== undefined) reply.raw.once('finish', answer.sent)
  // Without a serializer the framework would give text a charset, which JSON has none of.
  return reply.serializer(asItIs).send(answer.body)
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

/** The framework's own refusals, told as ours. */
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

/** A caller's own id is taken over where it is harmless in a header and a log. */
function requestId(given: string | string[] | undefined): string {
  const isUsable =
    typeof given === 'string' &&
    given.length <= limits.requestIdLengthMax &&
    /^[A-Za-z0-9._:/+=-]+$/.test(given)
  return isUsable ? given : randomUUID()
}

import cors from '@fastify/cors'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { type Background, openBackground } from '../../background.ts'
import type { Answer, Request, Route, Trace } from '../../contract/request.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { IncomingMessage } from '../../platform/machine/node-http.ts'
import { type LogAccess, openAccessLog } from './access-log.ts'
import { boundedRouting, cutForwardedFor, pathOf } from './bound-request.ts'
import { type Compress, openCompression } from './compress.ts'
import { type ConnectionBounds, openConnectionBounds } from './connections/connection-bounds.ts'
import { connectionsWithin, readDescriptorLimit } from './connections/descriptors.ts'
import { type Draining, drain } from './connections/drain.ts'
import { type NodeServers, openNodeServers } from './connections/node-server.ts'
import { openUnsentAnswers, type UnsentAnswers } from './connections/unsent-answers.ts'
import { peerAddress, warnOfUntrustedProxy } from './peer-address.ts'
import { problemAnswer } from './problem-answer.ts'
import { bodyTooLarge, expectsContinue, headerRefusal } from './refusals.ts'
import { logRequest, type Served } from './request-log.ts'
import { requestId, requestOf } from './request-of.ts'
import { breakOff, send } from './send.ts'
import { takeBodiesAsBytes, takeBodiesAsStreams, withoutSchemas } from './take-bodies.ts'
import { openUnknownRoute } from './unknown-route.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly takesStream?: boolean
  }
  interface FastifyRequest {
    trace: Trace
    /** The caller's IP address. */
    address: string
  }
}

export type ServerOptions = {
  readonly routes: readonly Route[]
  readonly log: Logger
  readonly corsOrigins: readonly string[]
  readonly trustedProxies: readonly string[]
  /** Connections, and requests in progress, of one address. Without it they are not limited. */
  readonly connectionsPerAddressMax?: number
  /** Names of parameters are the caller's text, so only the sandbox logs them. */
  readonly logsIgnoredParameters?: boolean
  /** Learns of every request that was served. */
  readonly served?: ((served: Served) => void) | undefined
  readonly background?: Background
  /** Whose server it is, in the state of its jobs. */
  readonly of?: string
  /** By default this server counts its answers alone. */
  readonly unsent?: UnsentAnswers
}

export type Server = {
  /** Resolves with the URL of the listening socket. */
  listen(host: string, port: number): Promise<string>
  /** Asks the clients to leave, so that `close` cuts no request. */
  drain(lameDuckMs: number): Promise<void>
  /** Closes idle connections and answers the requests in flight, up to a deadline. */
  close(): Promise<void>
}

export async function buildServer(options: ServerOptions): Promise<Server> {
  const { log, trustedProxies, connectionsPerAddressMax = Number.POSITIVE_INFINITY } = options
  const { background = openBackground(), of } = options
  const bounds = openConnectionBounds(
    { perAddressMax: connectionsPerAddressMax, trustedProxies, background, of },
    log,
  )
  const connectionsMax = connectionsWithin(readDescriptorLimit(), log)
  const nodeServers = openNodeServers({ connectionsMax, watch: bounds.watch, log })
  const server = fastify({
    logger: false,
    bodyLimit: limits.bodyBytesMax,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    ...boundedRouting,
    schemaController: withoutSchemas,
    serverFactory: nodeServers.open,
    genReqId: (raw) => requestId(raw.headers['x-request-id']),
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, raw, reply) => {
      // Framework errors pass no hook, so this does the work of the hooks.
      identify(raw)
      reply.headers(commonHeaders(raw))
      sendProblem(error, raw, reply)
      logServed(options, raw, reply)
    },
    // Each of Node's servers answers its broken requests itself.
    clientErrorHandler: () => {},
  })
  const draining: Draining = { answersClose: false, listenerClosedAt: undefined }
  server.decorateRequest('trace')
  server.decorateRequest('address')
  takeBodiesAsBytes(server)
  addHooks(server, options, draining, bounds)
  if (options.corsOrigins.length > 0) {
    await server.register(cors, {
      origin: [...options.corsOrigins],
      allowedHeaders: ['authorization', 'content-type', 'if-none-match', 'x-request-id'],
      exposedHeaders: [
        'as-of',
        'etag',
        'ratelimit-limit',
        'ratelimit-remaining',
        'ratelimit-reset',
        'retry-after',
        'www-authenticate',
        'x-ignored-parameters',
        'x-request-id',
      ],
      strictPreflight: false,
      maxAge: 600,
    })
  }
  const finish: Finish = {
    compress: openCompression(),
    logAccess: openAccessLog(log),
    unsent: options.unsent ?? openUnsentAnswers(),
  }
  const { true: streams = [], false: others = [] } = Object.groupBy(options.routes, (route) =>
    route.takesStream === true ? 'true' : 'false',
  )
  for (const route of others) addRoute(server, route, finish, options)
  await server.register(async (scope) => {
    takeBodiesAsStreams(scope)
    for (const route of streams) {
      addRoute(scope, admittedFirst(route, nodeServers), finish, options)
    }
  })
  return {
    listen: async (host, port) => server.listen({ host, port }),
    drain: (lameDuckMs) => drain(nodeServers, draining, lameDuckMs),
    close: async () => {
      draining.answersClose = true
      const spentMs = performance.now() - (draining.listenerClosedAt ?? performance.now())
      const deadline = setTimeout(() => {
        const connections = nodeServers.closeAllConnections()
        log.warn({ connections }, 'closed connections whose requests did not end in time')
      }, limits.drainTimeoutMs - spentMs)
      await server.close()
      clearTimeout(deadline)
      bounds.stop()
    },
  }
}

/** What every answer passes on its way out. */
type Finish = {
  readonly compress: Compress
  readonly logAccess: LogAccess
  readonly unsent: UnsentAnswers
}

function addRoute(
  server: FastifyInstance,
  route: Route,
  { compress, logAccess, unsent }: Finish,
  options: ServerOptions,
): void {
  server.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    // Fastify's own HEAD route would give a 304 a Content-Length.
    exposeHeadRoute: false,
    url: route.path,
    bodyLimit: route.takesStream
      ? limits.streamBytesMax
      : (route.bodyBytesMax ?? limits.bodyBytesMax),
    config: { takesStream: route.takesStream === true },
    ...(route.method !== 'GET' && { preParsing: allowBody(route) }),
    handler: async (raw, reply) => {
      const request = requestOf(raw, reply.raw)
      request.trace.operation = route.operation
      unsent.watch(reply.raw, request.trace)
      const answer = await answerOf(route, request)
      unsent.hold(answer, request)
      const compressed = await compress(logAccess(request, answer), raw.headers['accept-encoding'])
      unsent.hold(compressed, request)
      const { fault } = request.trace
      if (fault !== 'cut' && fault !== 'truncated') return send(reply, compressed)
      breakOff(reply, compressed, fault)
      logServed(options, raw, reply)
      return reply
    },
  })
}

/** Only a caller that may send a stream has its long deadline. */
const admittedFirst = (route: Route, nodeServers: NodeServers): Route => ({
  ...route,
  answer: async (request) => {
    await route.admit?.(request)
    if (request.content instanceof IncomingMessage) nodeServers.allowStream(request.content)
    return await route.answer(request)
  },
})

/** Tells a caller that waits to send its body, unless its headers rule it out. */
const allowBody = (route: Route) => async (raw: FastifyRequest, reply: FastifyReply) => {
  // RFC 9110 section 10.1.1: HTTP/1.0 has no 100 Continue.
  if (raw.raw.httpVersion !== '1.1' || !expectsContinue(raw.headers)) return
  raw.trace.operation = route.operation
  await route.admit?.(requestOf(raw, reply.raw))
  reply.raw.writeContinue()
}

function addHooks(
  server: FastifyInstance,
  options: ServerOptions,
  draining: Readonly<Draining>,
  bounds: ConnectionBounds,
): void {
  const unknownRoute = openUnknownRoute(server)
  const warn = warnOfUntrustedProxy(options.log)
  server.addHook('onRequest', (raw, reply, done) => {
    identify(raw)
    warn(raw)
    reply.headers(commonHeaders(raw))
    done(headerRefusal(raw, unknownRoute) ?? bounds.admit(raw.address, pathOf(raw.url), reply.raw))
  })
  server.addHook('onSend', (_raw, reply, _payload, done) => {
    if (draining.answersClose) reply.header('connection', 'close')
    done()
  })
  server.addHook('onResponse', (raw, reply, done) => {
    logServed(options, raw, reply)
    done()
  })
  server.setErrorHandler((error: { readonly statusCode?: number }, raw, reply) => {
    const isTooLarge = error.statusCode === 413
    return sendProblem(isTooLarge ? bodyTooLarge(raw.routeOptions.bodyLimit) : error, raw, reply)
  })
}

/** Reads the address once, since Fastify compares each forwarded one with every trusted proxy. */
function identify(raw: FastifyRequest): void {
  raw.trace = {}
  cutForwardedFor(raw.headers)
  raw.address = peerAddress(raw)
}

const commonHeaders = (raw: FastifyRequest) => ({
  'x-request-id': raw.id,
  // On every answer: a 304 and a small one too must tell caches that others may be compressed.
  vary: 'accept-encoding',
  'x-content-type-options': 'nosniff',
})

function logServed(
  { log, logsIgnoredParameters = false, served }: ServerOptions,
  raw: FastifyRequest,
  reply: FastifyReply,
): void {
  const request: Served = {
    trace: raw.trace,
    logsIgnoredParameters,
    id: raw.id,
    method: raw.method,
    status: reply.statusCode,
    durationMs: reply.elapsedTime,
    address: raw.address,
  }
  logRequest(log, request)
  served?.(request)
}

const sendProblem = (error: unknown, raw: FastifyRequest, reply: FastifyReply): FastifyReply =>
  send(reply, problemAnswer(error, { id: raw.id, path: pathOf(raw.originalUrl), trace: raw.trace }))

async function answerOf(route: Route, request: Request): Promise<Answer> {
  try {
    return await route.answer(request)
  } catch (error) {
    return problemAnswer(error, request, route.renderProblem)
  }
}

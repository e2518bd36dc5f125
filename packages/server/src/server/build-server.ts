import {
  type Background,
  IncomingMessage,
  type Logger,
  openBackground,
  type Recorder,
  readDescriptorLimit,
  step,
  systemTime,
  within,
} from '@bursar/base'
import {
  type Answer,
  contractLimits,
  Problem,
  type Request,
  type Route,
  type Trace,
} from '@bursar/contract'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { serverLimits } from '../limits.ts'
import type { AuditAnswer } from './audit-answers.ts'
import { boundedRouting, pathOf } from './bound-request.ts'
import { type Compress, openCompression } from './compress.ts'
import {
  type Admission,
  type ConnectionBounds,
  openConnectionBounds,
} from './connections/connection-bounds.ts'
import { connectionsWithin } from './connections/descriptors.ts'
import { type Draining, drain } from './connections/drain.ts'
import { type NodeServers, openNodeServers } from './connections/node-server.ts'
import { openUnsentAnswers, type UnsentAnswers } from './connections/unsent-answers.ts'
import { type Cors, openCors } from './cors.ts'
import { type Frame, openFrame } from './frame.ts'
import { warnOfUntrustedProxy } from './peer-address.ts'
import { problemAnswer } from './problem-answer.ts'
import { bodyTooLarge, expectsContinue, headerRefusal } from './refusals.ts'
import type { Served } from './request-log.ts'
import { requestId, requestOf } from './request-of.ts'
import {
  boundContentType,
  takeBodiesAsBytes,
  takeBodiesAsStreams,
  withoutSchemas,
} from './take-bodies.ts'
import { openTraceRequests } from './trace-requests.ts'
import { openUnknownRoute } from './unknown-route.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly takesStream?: boolean
    readonly isProbe?: boolean
  }
  interface FastifyRequest {
    trace: Trace
    /** The caller's IP address. */
    address: string
    /** By `Time.elapsedMs`. */
    begunAt: number
    /** Counts the request, once it is admitted. */
    admission: Admission | undefined
  }
}

export type ServerOptions = {
  readonly routes: readonly Route[]
  readonly log: Logger
  readonly corsOrigins: readonly string[]
  readonly trustedProxies: readonly string[]
  /** Connections, and requests in progress, of one address. Without it they are not limited. */
  readonly connectionsPerAddressMax?: number
  readonly idleConnectionSeconds: number
  /** Names of parameters are the caller's text, so only the sandbox logs them. */
  readonly logsIgnoredParameters?: boolean
  /** Without it, as on the operator's port, no answer needs an entry in the audit log. */
  readonly audit?: AuditAnswer
  /** Learns of every request that was served. */
  readonly served?: ((served: Served) => void) | undefined
  /** Where the spans of its requests go. */
  readonly tracing?: Recorder | undefined
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
  const { background = openBackground(), of, unsent = openUnsentAnswers() } = options
  const bounds = openConnectionBounds(
    { perAddressMax: connectionsPerAddressMax, trustedProxies, background, of },
    log,
  )
  const cors = openCors(options.corsOrigins)
  const draining: Draining = { answersClose: false, listenerClosedAt: undefined }
  const frame = openFrame({
    log,
    draining,
    cors,
    logsIgnoredParameters: options.logsIgnoredParameters === true,
    served: options.served,
    traceRequests: openTraceRequests(options.tracing),
    ended: ({ admission, trace }) => {
      admission?.end()
      unsent.end(trace)
    },
  })
  const connectionsMax = connectionsWithin(readDescriptorLimit(), log)
  const nodeServers = openNodeServers({
    connectionsMax,
    idleConnectionSeconds: options.idleConnectionSeconds,
    watch: bounds.watch,
    cors,
    log,
  })
  const server = fastify({
    logger: false,
    bodyLimit: serverLimits.bodyBytesMax,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    ...boundedRouting,
    schemaController: withoutSchemas,
    serverFactory: nodeServers.open,
    genReqId: (raw) => requestId(raw.headers['x-request-id']),
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, raw, reply) => {
      // Framework errors pass no hook.
      frame.begin(raw, reply)
      frame.sendProblem(error, raw, reply)
    },
    // Each of Node's servers answers its broken requests itself.
    clientErrorHandler: () => {},
  })
  server.decorateRequest('trace')
  server.decorateRequest('address')
  server.decorateRequest('begunAt')
  server.decorateRequest('admission')
  takeBodiesAsBytes(server)
  addHooks(server, options, { frame, bounds, cors })
  const finish: Finish = {
    compress: openCompression(),
    audit: options.audit ?? (() => undefined),
    unsent,
    frame,
  }
  const { true: streams = [], false: others = [] } = Object.groupBy(options.routes, (route) =>
    route.takesStream === true ? 'true' : 'false',
  )
  for (const route of others) addRoute(server, route, finish)
  await server.register(async (scope) => {
    takeBodiesAsStreams(scope)
    for (const route of streams) {
      addRoute(scope, admittedFirst(route, nodeServers), finish)
    }
  })
  return {
    listen: async (host, port) => server.listen({ host, port }),
    drain: (lameDuckMs) => drain(nodeServers, draining, lameDuckMs),
    close: async () => {
      draining.answersClose = true
      const spentMs = systemTime.elapsedMs() - (draining.listenerClosedAt ?? systemTime.elapsedMs())
      const cancel = systemTime.after(contractLimits.drainTimeoutMs - spentMs, () => {
        const connections = nodeServers.closeAllConnections()
        log.warn({ connections }, 'closed connections whose requests did not end in time')
      })
      await server.close()
      cancel()
      bounds.stop()
    },
  }
}

/** What every answer passes on its way out. */
type Finish = {
  readonly compress: Compress
  readonly audit: AuditAnswer
  readonly unsent: UnsentAnswers
  readonly frame: Frame
}

function addRoute(server: FastifyInstance, route: Route, finish: Finish): void {
  server.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    // Fastify's own HEAD route would give a 304 a Content-Length.
    exposeHeadRoute: false,
    url: route.path,
    bodyLimit: route.takesStream
      ? contractLimits.streamBytesMax
      : (route.bodyBytesMax ?? serverLimits.bodyBytesMax),
    config: { takesStream: route.takesStream === true, isProbe: route.isProbe === true },
    ...(route.method !== 'GET' && { preParsing: allowBody(route) }),
    handler: (raw, reply) => {
      // From here on the framework has no part in the answer.
      reply.hijack()
      void serve(route, raw, reply, finish)
    },
  })
}

/** Never rejects: a failure on the way out is answered too. */
async function serve(
  route: Route,
  raw: FastifyRequest,
  reply: FastifyReply,
  { compress, audit, unsent, frame }: Finish,
): Promise<void> {
  try {
    const request = requestOf(raw, reply.raw)
    const { trace } = request
    trace.operation = route.operation
    const answer = await within(trace.span, () => answerOf(route, request))
    unsent.hold(answer, request)
    const audited = await step(trace.span, 'audit', () => auditedAnswer(audit, request, answer))
    if (trace.span !== undefined) trace.responding = trace.span.child('respond')
    const compressed = await compress(audited, raw.headers['accept-encoding'])
    unsent.hold(compressed, request)
    frame.send(compressed, raw, reply)
  } catch (error) {
    frame.sendProblem(error, raw, reply)
  }
}

/** The answer, once its entry in the audit log is on disk. Else the problem. */
function auditedAnswer(
  audit: AuditAnswer,
  request: Request,
  answer: Answer,
): Answer | Promise<Answer> {
  const written = audit(request, answer)
  if (written === undefined) return answer
  return written.then(
    () => answer,
    (error: unknown) => {
      answer.sent?.()
      return problemAnswer(error, request)
    },
  )
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
const allowBody =
  (route: Route) =>
  (
    raw: FastifyRequest,
    reply: FastifyReply,
    _body: unknown,
    done: (error?: Error | null) => void,
  ): void => {
    // RFC 9110 section 10.1.1: HTTP/1.0 has no 100 Continue.
    if (raw.raw.httpVersion !== '1.1' || !expectsContinue(raw.headers)) {
      done()
      return
    }
    raw.trace.operation = route.operation
    Promise.resolve(within(raw.trace.span, () => route.admit?.(requestOf(raw, reply.raw))))
      .then(() => reply.raw.writeContinue())
      .then(() => done(), done)
  }

/** What every request passes before its route. */
type Passed = {
  readonly frame: Frame
  readonly bounds: ConnectionBounds
  readonly cors: Cors
}

function addHooks(
  server: FastifyInstance,
  options: ServerOptions,
  { frame, bounds, cors: { preflight } }: Passed,
): void {
  const unknownRoute = openUnknownRoute(server)
  const warn = warnOfUntrustedProxy(options.log)
  const admit = (raw: FastifyRequest, path: string): Problem | undefined => {
    const admitted = bounds.admit(raw.address, path)
    if (admitted instanceof Problem) return admitted
    raw.admission = admitted
    return undefined
  }
  // One hook, since the framework pays for each of them with every request.
  server.addHook('onRequest', (raw, reply, done) => {
    frame.begin(raw, reply)
    warn(raw)
    boundContentType(raw.headers)
    const path = pathOf(raw.url)
    // A preflight may precede the request of any path, also of one that is unknown.
    const isPreflight = preflight !== undefined && raw.method === 'OPTIONS'
    const refused = headerRefusal(raw, path, isPreflight ? () => undefined : unknownRoute)
    const problem = refused ?? admit(raw, path)
    if (problem !== undefined || !isPreflight) done(problem)
    else frame.send({ status: 204, headers: preflight, body: undefined }, raw, reply)
  })
  server.setErrorHandler((error: { readonly statusCode?: number }, raw, reply) => {
    const isTooLarge = error.statusCode === 413
    frame.sendProblem(isTooLarge ? bodyTooLarge(raw.routeOptions.bodyLimit) : error, raw, reply)
  })
}

async function answerOf(route: Route, request: Request): Promise<Answer> {
  try {
    return await route.answer(request)
  } catch (error) {
    return problemAnswer(error, request, route.renderProblem)
  }
}

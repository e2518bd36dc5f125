import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer, type Logger, limitsOf, systemTime } from '@bursar/base'
import { problem } from '@bursar/contract'
import { serverLimits } from '../../limits.ts'
import { originForm } from '../bound-request.ts'
import type { Cors } from '../cors.ts'
import { openBodyDeadlines } from './body-deadlines.ts'
import {
  answerOnSocket,
  brokenRequestAnswerer,
  type LastRequest,
  methods,
} from './broken-request.ts'
import { openIdleConnections } from './idle-connections.ts'

const limits = limitsOf({
  /** How long a client may take to send its headers. */
  headersTimeoutMs: 10_000,
  /** A stream of records: 5 GB at 80 Mbit/s. Nothing else may take so long to arrive. */
  streamTimeoutMs: 600_000,
})

export type NodeServers = {
  open(handler: RequestListener): Server
  /** Lets a request send its body for as long as a stream may take. */
  allowStream(request: IncomingMessage): void
  /** Accepts no more connections. Resolves when none is left. */
  closeListeners(): Promise<void>
  /** The number of connections, and when the newest was accepted. */
  size(): number
  newest(): number
  /** Closes connections without a request, also those that never sent a byte. */
  closeIdle(): void
  /** Closes every connection and returns how many there were. */
  closeAllConnections(): number
}

type NodeServerOptions = {
  readonly connectionsMax: number
  readonly idleConnectionSeconds: number
  readonly watch: (server: Server) => void
  readonly cors: Cors
  readonly log: Logger
}

/**
 * Opens Node's HTTP servers, each with every limit. Fastify opens one for each address of
 * `localhost`, and would give its own settings to the first one only.
 */
export function openNodeServers({
  connectionsMax,
  idleConnectionSeconds,
  watch,
  cors,
  log,
}: NodeServerOptions): NodeServers {
  const opened: Server[] = []
  const sockets = new Set<Socket>()
  const bodies = openBodyDeadlines()
  const idle = openIdleConnections(connectionsMax, sockets)
  let newest = Number.NEGATIVE_INFINITY
  const open = (handler: RequestListener): Server => {
    const server = createServer(
      {
        maxHeaderSize: serverLimits.headerBytesMax,
        // Any other body has its own deadline.
        requestTimeout: limits.streamTimeoutMs,
        headersTimeout: limits.headersTimeoutMs,
        keepAliveTimeout: idleConnectionSeconds * 1000,
        connectionsCheckingInterval: 1000,
        // Node would answer a request without Host with a bare 400. `refusals.ts` explains it.
        requireHostHeader: false,
        // The service speaks no other protocol, so it ignores the request for an upgrade.
        shouldUpgradeCallback: () => false,
      },
      (request, response) => {
        request.url = originForm(request.url)
        handler(request, response)
      },
    )
    server.maxConnections = connectionsMax
    server.maxHeadersCount = serverLimits.headersMax + 1
    server.on('connection', (socket) => {
      sockets.add(socket)
      newest = systemTime.elapsedMs()
      socket.once('close', () => sockets.delete(socket))
      idle.accepted(socket)
    })
    const lastRequests = new WeakMap<Duplex, LastRequest>()
    const answerBroken = brokenRequestAnswerer({ log, cors }, (socket) => lastRequests.get(socket))
    server.on('request', (request, response) => {
      const { socket } = request
      const last = lastRequests.get(socket)
      idle.begun(socket)
      response.once('close', () => {
        if (lastRequests.get(socket)?.response === response) idle.ended(socket)
      })
      // One entry for a connection: a new one for each request would burden garbage collection.
      if (last === undefined) lastRequests.set(socket, { request, response })
      else {
        last.request = request
        last.response = response
      }
      bodies.expect(request, answerBroken)
    })
    // By default Node sends 100 Continue before anyone has seen the request, and a bare 417.
    server.on('checkContinue', (request, response) => server.emit('request', request, response))
    server.on('checkExpectation', (request, response) => server.emit('request', request, response))
    server.on('connect', ({ headers }, socket) =>
      answerOnSocket(socket, connectRefused, { log, headers: cors.headers(headers.origin) }),
    )
    server.on('clientError', answerBroken)
    watch(server)
    opened.push(server)
    return server
  }
  return {
    open,
    allowStream: bodies.allow,
    closeListeners: async () => {
      await Promise.all(opened.map(closeListener))
    },
    size: () => sockets.size,
    newest: () => newest,
    closeIdle: () => {
      for (const server of opened) server.closeIdleConnections()
      // To Node, these are not idle.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    },
    closeAllConnections: () => {
      const count = sockets.size
      for (const socket of sockets) socket.destroy()
      return count
    },
  }
}

/** An HTTP server's own `close` would cut connections whose next request is on its way. */
const closeListener = (server: Server): Promise<void> =>
  new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()))

const connectRefused = problem('methodNotAllowed', `the method must be one of ${methods}`, {
  headers: { allow: methods },
})

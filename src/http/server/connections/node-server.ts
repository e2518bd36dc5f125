import { createServer, type RequestListener, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { Problem } from '../../../contract/problem.ts'
import { limits } from '../../../platform/limits.ts'
import type { Logger } from '../../../platform/log.ts'
import {
  answerOnSocket,
  brokenRequestAnswerer,
  type LastRequest,
  methods,
} from './broken-request.ts'

export type NodeServers = {
  open(handler: RequestListener): Server
  closeAllConnections(): void
}

type NodeServerOptions = {
  readonly connectionsMax: number
  readonly watch: (server: Server) => void
  readonly log: Logger
}

/**
 * Opens Node's HTTP servers, each with every limit. Fastify opens one for each address of
 * `localhost`, and would give its own settings to the first one only.
 */
export function openNodeServers({ connectionsMax, watch, log }: NodeServerOptions): NodeServers {
  const opened: Server[] = []
  const open = (handler: RequestListener): Server => {
    const server = createServer(
      {
        maxHeaderSize: limits.headerBytesMax,
        requestTimeout: limits.requestTimeoutMs,
        headersTimeout: limits.headersTimeoutMs,
        keepAliveTimeout: limits.keepAliveTimeoutMs,
        connectionsCheckingInterval: 1000,
        // Node would answer a request without Host with a bare 400. `refusals.ts` explains it.
        requireHostHeader: false,
        // The service speaks no other protocol, so it answers as if no upgrade had been asked for.
        shouldUpgradeCallback: () => false,
      },
      handler,
    )
    server.maxConnections = connectionsMax
    server.maxHeadersCount = limits.headersMax
    const lastRequests = new WeakMap<Duplex, LastRequest>()
    server.on('request', (request, response) => {
      const last = lastRequests.get(request.socket)
      // One entry for a connection: a new one for each request would burden garbage collection.
      if (last === undefined) lastRequests.set(request.socket, { request, response })
      else {
        last.request = request
        last.response = response
      }
    })
    // By default Node sends 100 Continue before anyone has seen the request, and a bare 417.
    server.on('checkContinue', (request, response) => server.emit('request', request, response))
    server.on('checkExpectation', (request, response) => server.emit('request', request, response))
    server.on('connect', (_request, socket) => answerOnSocket(socket, connectRefused, log))
    const answerBroken = brokenRequestAnswerer(log, (socket) => lastRequests.get(socket))
    server.on('clientError', answerBroken)
    watch(server)
    opened.push(server)
    return server
  }
  return {
    open,
    closeAllConnections: () => {
      for (const server of opened) server.closeAllConnections()
    },
  }
}

const connectRefused = new Problem(405, `the method must be one of ${methods}`, {
  headers: { allow: methods },
})

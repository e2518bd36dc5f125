import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { limits } from '../../../platform/limits.ts'

/** Node has one deadline for every request of a server. Streams need a longer one than others. */
export type BodyDeadlines = {
  /** Gives the body of a request its time. `refuse` gets the error that Node itself would emit. */
  expect(request: IncomingMessage, refuse: (error: Error, socket: Socket) => void): void
  /** Lets the body take longer. */
  allow(request: IncomingMessage): void
}

/** The request of a connection that had a body last. The next one begins after its last byte. */
type Expected = {
  request: IncomingMessage
  mayTakeLonger: boolean
  readonly timer: NodeJS.Timeout
}

/** A connection has one timer, since a timer for each request would burden garbage collection. */
export function openBodyDeadlines(bodyMs: number = limits.requestTimeoutMs): BodyDeadlines {
  const connections = new WeakMap<Socket, Expected>()
  return {
    allow: ({ socket }) => {
      const expected = connections.get(socket)
      if (expected !== undefined) expected.mayTakeLonger = true
    },
    expect: (request, refuse) => {
      const { headers, socket } = request
      const length = headers['content-length'] ?? '0'
      if (length === '0' && headers['transfer-encoding'] === undefined) return
      const known = connections.get(socket)
      if (known !== undefined) {
        known.request = request
        known.mayTakeLonger = false
        known.timer.refresh()
        return
      }
      const timer = setTimeout(() => {
        if (expected.mayTakeLonger || expected.request.complete || socket.destroyed) return
        const error = new Error('the body was not sent in time')
        refuse(Object.assign(error, { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
      }, bodyMs)
      timer.unref()
      const expected: Expected = { request, mayTakeLonger: false, timer }
      connections.set(socket, expected)
      socket.once('close', () => clearTimeout(timer))
    },
  }
}

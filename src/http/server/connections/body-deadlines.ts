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

export function openBodyDeadlines(bodyMs: number = limits.requestTimeoutMs): BodyDeadlines {
  const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>()
  const allow = (request: IncomingMessage) => clearTimeout(timers.get(request))
  return {
    allow,
    expect: (request, refuse) => {
      const { headers } = request
      const length = headers['content-length'] ?? '0'
      if (length === '0' && headers['transfer-encoding'] === undefined) return
      const timer = setTimeout(() => {
        if (request.complete || request.socket.destroyed) return
        const error = new Error('the body was not sent in time')
        refuse(Object.assign(error, { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), request.socket)
      }, bodyMs)
      // An answered request whose connection is cut emits neither event below.
      timer.unref()
      timers.set(request, timer)
      request.once('close', () => clearTimeout(timer))
      request.once('end', () => clearTimeout(timer))
    },
  }
}

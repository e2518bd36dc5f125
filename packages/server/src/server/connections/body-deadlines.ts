import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { systemTime } from '@bursar/base'
import { contractLimits } from '@bursar/contract'

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
  /** When the body must be whole, by `Time.elapsedMs`. */
  endsAt: number
  /** Undefined once the timer found a body that is whole, or may take longer. */
  cancel: (() => void) | undefined
  readonly look: () => void
}

/** A connection has one timer, since a timer for each request would burden garbage collection. */
export function openBodyDeadlines(bodyMs: number = contractLimits.requestTimeoutMs): BodyDeadlines {
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
        known.endsAt = systemTime.elapsedMs() + bodyMs
        known.cancel ??= systemTime.after(bodyMs, known.look)
        return
      }
      const look = () => {
        expected.cancel = undefined
        if (expected.mayTakeLonger || expected.request.complete || socket.destroyed) return
        const leftMs = expected.endsAt - systemTime.elapsedMs()
        if (leftMs > 0) {
          expected.cancel = systemTime.after(leftMs, look)
          return
        }
        const error = new Error('the body was not sent in time')
        refuse(Object.assign(error, { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
      }
      const endsAt = systemTime.elapsedMs() + bodyMs
      const cancel = systemTime.after(bodyMs, look)
      const expected: Expected = { request, mayTakeLonger: false, endsAt, cancel, look }
      connections.set(socket, expected)
      socket.once('close', () => expected.cancel?.())
    },
  }
}

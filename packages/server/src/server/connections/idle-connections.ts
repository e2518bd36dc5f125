import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { limitsOf, systemTime, turn } from '@bursar/base'

const limits = limitsOf({
  /** The part of its connections that a process keeps idle: each costs a descriptor and memory. */
  idlePartMax: 3 / 4,
  /** Idle connections make this much room for new ones: of 16,000, more than a listen backlog. */
  newPart: 1 / 16,
  /** A request that had begun has its headers by then, or Node has refused it. */
  headersSettledMs: 12_000,
})

export type IdleConnections = {
  /** Learns of a new connection of the server. */
  accepted(socket: Socket): void
  /** The last request of the connection has ended. */
  ended(socket: Socket): void
  /** The connection has another request. */
  begun(socket: Socket): void
}

type Idle = { readonly since: number; readonly bytesRead: number }

/** Bounds idle connections. The one that has been idle for longest closes first. */
export function openIdleConnections(
  connectionsMax: number,
  servers: readonly Server[],
  sockets: ReadonlySet<Socket>,
): IdleConnections {
  const idleMax = Math.floor(connectionsMax * limits.idlePartMax)
  const keptMax = connectionsMax - Math.ceil(connectionsMax * limits.newPart)
  const idle = new Map<Socket, Idle>()
  const survey = openSurvey(servers)
  const excess = () => Math.min(idle.size, Math.max(idle.size - idleMax, sockets.size - keptMax))
  let isClosing = false
  const closeOldest = async () => {
    if (isClosing || excess() <= 0) return
    isClosing = true
    // What has arrived is read first.
    await turn()
    isClosing = false
    let left = excess()
    let found: ReadonlySet<Socket> | undefined
    const settledAt = systemTime.elapsedMs() - limits.headersSettledMs
    for (const [socket, { since, bytesRead }] of idle) {
      if (left <= 0) break
      const isSettled = since <= settledAt && bytesRead === socket.bytesRead
      if (!isSettled) found ??= survey.idle()
      if (found?.has(socket) === false && !isSettled) continue
      idle.delete(socket)
      socket.destroy()
      left -= 1
    }
  }
  return {
    accepted: (socket) => {
      survey.include(socket)
      socket.once('close', () => idle.delete(socket))
      void closeOldest()
    },
    ended: (socket) => {
      if (!socket.writable) return
      idle.set(socket, { since: systemTime.elapsedMs(), bytesRead: socket.bytesRead })
      void closeOldest()
    },
    begun: (socket) => void idle.delete(socket),
  }
}

/**
 * Asks Node which connections have no request, not even the first bytes of one. Node answers only
 * by closing them, and looks at every connection, so this is for those that bytes cannot settle.
 */
function openSurvey(servers: readonly Server[]) {
  let found: Set<Socket> | undefined
  return {
    include: (socket: Socket) => {
      const destroy = socket.destroy
      socket.destroy = (error) => {
        if (found === undefined) return destroy.call(socket, error)
        found.add(socket)
        return socket
      }
    },
    idle: (): ReadonlySet<Socket> => {
      const idle = new Set<Socket>()
      found = idle
      for (const server of servers) server.closeIdleConnections()
      found = undefined
      return idle
    },
  }
}

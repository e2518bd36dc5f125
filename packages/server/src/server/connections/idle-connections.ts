import type { Socket } from 'node:net'
import { limitsOf, turn } from '@bursar/base'

const limits = limitsOf({
  /** The part of its connections that a process keeps idle: each costs a descriptor and memory. */
  idlePartMax: 3 / 4,
  /** Idle connections make this much room for new ones: of 16,000, more than a listen backlog. */
  newPart: 1 / 16,
})

export type IdleConnections = {
  /** Learns of a new connection of the server. */
  accepted(socket: Socket): void
  /** The last request of the connection has ended. */
  ended(socket: Socket): void
  /** The connection has another request. */
  begun(socket: Socket): void
}

/**
 * Bounds idle connections. The one that has been idle for longest closes first, but none that has
 * received bytes since its last answer: they begin a request.
 */
export function openIdleConnections(
  connectionsMax: number,
  sockets: ReadonlySet<Socket>,
): IdleConnections {
  const idleMax = Math.floor(connectionsMax * limits.idlePartMax)
  const keptMax = connectionsMax - Math.ceil(connectionsMax * limits.newPart)
  /** What each had received when it became idle, the oldest first. */
  const idle = new Map<Socket, number>()
  const excess = () => Math.min(idle.size, Math.max(idle.size - idleMax, sockets.size - keptMax))
  let isClosing = false
  const closeOldest = async () => {
    if (isClosing || excess() <= 0) return
    isClosing = true
    // What has arrived is read first.
    await turn()
    isClosing = false
    let left = excess()
    for (const [socket, bytesRead] of idle) {
      if (left <= 0) break
      if (socket.bytesRead !== bytesRead) continue
      idle.delete(socket)
      socket.destroy()
      left -= 1
    }
  }
  return {
    accepted: (socket) => {
      socket.once('close', () => idle.delete(socket))
      void closeOldest()
    },
    ended: (socket) => {
      if (!socket.writable) return
      idle.set(socket, socket.bytesRead)
      void closeOldest()
    },
    begun: (socket) => void idle.delete(socket),
  }
}

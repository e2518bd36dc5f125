import { connect, type NetConnectOpts, type Socket } from 'node:net'
import type { ServerAddress } from '../../platform/postgres-url.ts'

/** The socket of one session, which can be destroyed at any time, also while it is still connecting. */
export type SessionSocket = {
  /** Resolves with the socket when it is connected. Called once. */
  open(): Promise<Socket>
  isDestroyed(): boolean
  destroy(): void
}

export function sessionSocket(address: ServerAddress, connectTimeoutMs: number): SessionSocket {
  let socket: Socket | undefined
  let destroyed = false
  return {
    open: () => {
      socket = openReading(address)
      if (destroyed) socket.destroy()
      return connected(socket, connectTimeoutMs)
    },
    isDestroyed: () => destroyed,
    destroy: () => {
      destroyed = true
      socket?.destroy()
    },
  }
}

export const sessionLost = () =>
  Object.assign(new Error('the session was lost'), { code: 'ECONNRESET' })

function connected(socket: Socket, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy(Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' }))
    }, timeoutMs)
    socket.once('error', reject)
    socket.once('close', () => {
      clearTimeout(timer)
      // Of no effect once it was connected.
      reject(sessionLost())
    })
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

/**
 * Reads into one buffer and hands out copies of what came. A socket otherwise allocates 64 KB for every read and a page
 * comes in several, which the driver puts together in a third place: so much that collecting it took as long as all
 * the rest. (TLS reads by its own means.)
 */
function openReading({ host, port, credentials }: ServerAddress): Socket {
  const options: NetConnectOpts = { host, port, noDelay: true }
  const onread = {
    buffer: Buffer.allocUnsafe(READ_BYTES),
    callback: (length: number, buffer: Uint8Array): boolean =>
      socket.emit('data', Buffer.from(buffer.subarray(0, length))),
  }
  const socket: Socket = connect(credentials.ssl === false ? { ...options, onread } : options)
  // TLS asks for the certificate of this name.
  return Object.assign(socket, { host })
}

/** Most pages of a hundred records come in one read. */
const READ_BYTES = 256 * 1024

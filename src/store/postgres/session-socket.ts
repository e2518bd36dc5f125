import { connect, type NetConnectOpts, type Socket } from 'node:net'
import type { ServerAddress } from '../../platform/postgres-url.ts'
import { openMessageBuffer } from './message-buffer.ts'

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

function openReading({ host, port, credentials }: ServerAddress): Socket {
  const options: NetConnectOpts = { host, port, noDelay: true }
  // TLS reads by its own means.
  if (credentials.ssl === false) {
    const { room, take } = openMessageBuffer()
    const callback = (length: number): boolean => {
      const whole = take(length)
      if (whole !== undefined) socket.emit('data', whole)
      return true
    }
    Object.assign(options, { onread: { buffer: room, callback } })
  }
  const socket: Socket = connect(options)
  // TLS asks for the certificate of this name.
  return Object.assign(socket, { host })
}

import { connect, type NetConnectOpts, type Socket } from 'node:net'
import type { ServerAddress } from '../../../platform/postgres-url.ts'
import { openMessageBuffer } from './message-buffer.ts'
import { happened, sessionLost } from './socket-events.ts'
import { beginTls } from './tls.ts'

/** The socket of one session, which can be destroyed at any time, also while it is still connecting. */
export type SessionSocket = {
  /**
   * Resolves with the socket when it is connected, and encrypted where the address asks for that. Rejects when it is called
   * again: the driver connects anew, without a rest and for ever, to a server that hangs up before it has said anything.
   */
  open(): Promise<Socket>
  isDestroyed(): boolean
  destroy(): void
}

export function sessionSocket(address: ServerAddress, connectTimeoutMs: number): SessionSocket {
  const { host, port, credentials } = address
  let socket: Socket | undefined
  let destroyed = false
  const use = (opened: Socket): Socket => {
    socket = opened
    if (destroyed) opened.destroy()
    return opened
  }
  const connected = async (): Promise<Socket> => {
    const target = { host, port, noDelay: true }
    const bare = use(credentials.ssl === false ? connectPlain(target) : connect(target))
    await happened(bare, 'connect')
    return credentials.ssl === false
      ? bare
      : await beginTls(bare, { host, sslmode: credentials.ssl, use })
  }
  return {
    open: async () => {
      if (socket !== undefined) throw sessionLost()
      const timer = setTimeout(() => socket?.destroy(timedOut()), connectTimeoutMs)
      try {
        const opened = await connected()
        // The driver names them where the server is silent.
        return Object.assign(opened, { host, port })
      } finally {
        clearTimeout(timer)
      }
    },
    isDestroyed: () => destroyed,
    destroy: () => {
      destroyed = true
      socket?.destroy()
    },
  }
}

const timedOut = () => Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' })

function connectPlain(target: NetConnectOpts): Socket {
  const { room, take } = openMessageBuffer()
  const callback = (length: number): boolean => {
    const whole = take(length)
    if (whole !== undefined) socket.emit('data', whole)
    return true
  }
  const socket: Socket = connect({ ...target, onread: { buffer: room, callback } })
  return socket
}

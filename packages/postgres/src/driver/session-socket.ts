import { connect, type NetConnectOpts, type Socket } from 'node:net'
import { type ServerAddress, systemTime } from '@bursar/base'
import { sessionLost } from './failure.ts'
import { openMessageBuffer } from './message-buffer.ts'
import { beginTls, socketEvent } from './tls.ts'

/** The socket of one session. It can be destroyed at any time, even while it is connecting. */
export type SessionSocket = {
  /** Connects and starts TLS. Rejects a second call: the driver would reconnect for ever. */
  open(): Promise<Socket>
  /** Whether the server has asked for a login by SCRAM. */
  asksForScram(): boolean
  isDestroyed(): boolean
  destroy(): void
}

export function sessionSocket(address: ServerAddress, connectTimeoutMs: number): SessionSocket {
  const { host, port, credentials } = address
  let socket: Socket | undefined
  let isDestroyed = false
  let asksForScram = false
  const use = (opened: Socket): Socket => {
    socket = opened
    if (isDestroyed) opened.destroy()
    return opened
  }
  const connected = async (): Promise<Socket> => {
    const target = { host, port, noDelay: true }
    const plain = use(credentials.ssl === false ? connectPlain(target) : connect(target))
    await socketEvent(plain, 'connect')
    return credentials.ssl === false
      ? plain
      : await beginTls(plain, { host, sslmode: credentials.ssl, use })
  }
  return {
    open: async () => {
      if (socket !== undefined) throw sessionLost()
      const cancel = systemTime.after(connectTimeoutMs, () => socket?.destroy(timedOut()))
      try {
        // The driver names the host and the port in its time-out error.
        const opened = Object.assign(await connected(), { host, port })
        opened.once('data', (first: Buffer) => {
          asksForScram = isSaslRequest(first)
        })
        return opened
      } finally {
        cancel()
      }
    },
    asksForScram: () => asksForScram,
    isDestroyed: () => isDestroyed,
    destroy: () => {
      isDestroyed = true
      socket?.destroy()
    },
  }
}

/** AuthenticationSASL (PostgreSQL, "Message Formats"). All its mechanisms are of SCRAM. */
const isSaslRequest = (message: Buffer): boolean =>
  message.length >= 9 && message.toString('latin1', 0, 1) === 'R' && message.readInt32BE(5) === 10

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

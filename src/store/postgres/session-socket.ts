import { connect, isIP, type NetConnectOpts, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ServerAddress } from '../../platform/postgres-url.ts'
import { withBinaryResults } from './bind-message.ts'
import { isPassing } from './failure.ts'
import { openMessageBuffer } from './message-buffer.ts'

/** The socket of one session, which can be destroyed at any time, also while it is still connecting. */
export type SessionSocket = {
  /** Resolves with the socket when it is connected, and encrypted where the address asks for that. Called once. */
  open(): Promise<Socket>
  /** Whether statements answer in binary from now on. */
  askForBinary(isAsked: boolean): void
  isDestroyed(): boolean
  destroy(): void
}

export function sessionSocket(address: ServerAddress, connectTimeoutMs: number): SessionSocket {
  let socket: Socket | undefined
  let destroyed = false
  let isBinary = false
  const use = (opened: Socket): Socket => {
    socket = opened
    if (destroyed) opened.destroy()
    return opened
  }
  const opened = async (): Promise<Socket> => {
    const { host, port, credentials } = address
    const target = { host, port, noDelay: true }
    if (credentials.ssl === false) return await after(use(connectPlain(target)), 'connect')
    const bare = use(connect(target))
    await after(bare, 'connect')
    await askForTls(bare)
    const encrypted = use(encrypt(bare, host, credentials.ssl))
    return await after(encrypted, 'secureConnect').catch((error: unknown) => {
      throw isPassing(error) ? error : tlsFailed(`its certificate does not hold (${toldOf(error)})`)
    })
  }
  return {
    open: async () => {
      const timer = setTimeout(() => socket?.destroy(timedOut()), connectTimeoutMs)
      try {
        return onWrite(await opened(), (messages) =>
          isBinary ? withBinaryResults(messages) : messages,
        )
      } finally {
        clearTimeout(timer)
      }
    },
    askForBinary: (isAsked) => {
      isBinary = isAsked
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

const tlsFailed = (message: string) => Object.assign(new Error(message), { code: 'ETLS' })

const toldOf = (error: unknown): string => String((error as { code?: unknown }).code ?? error)

const timedOut = () => Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' })

/** Resolves when it has happened for the first time; rejects where the socket ends before. */
async function after(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  await happened(socket, event)
  return socket
}

function happened(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    // Of no effect once it has happened.
    socket.once('close', () => reject(sessionLost()))
    socket.once(event, (what: unknown) => {
      socket.off('error', reject)
      resolve(what)
    })
  })
}

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

/**
 * The driver would do this too, but ends an encrypted session by writing to it, also where its socket was destroyed, and
 * the process with it.
 */
async function askForTls(socket: Socket): Promise<void> {
  socket.write(TLS_REQUEST)
  const answer = (await happened(socket, 'data')) as Buffer
  // More than the one byte would be somebody's in between, and read as if it had come encrypted.
  if (answer.toString('latin1') === TAKES_TLS) return
  socket.destroy()
  throw tlsFailed('the server offers no TLS')
}

/** The PostgreSQL documentation's SSLRequest: its length, and a code that is no version. */
const TLS_REQUEST = Buffer.from('0000000804d2162f', 'hex')
const TAKES_TLS = 'S'

function encrypt(socket: Socket, host: string, sslmode: string): Socket {
  return connectTls({
    socket,
    host,
    // The extension is for names alone (RFC 6066 section 3).
    ...(isIP(host) === 0 && { servername: host }),
    rejectUnauthorized: sslmode === 'verify-full',
  })
}

function onWrite(socket: Socket, change: (messages: Buffer) => Buffer): Socket {
  const write = socket.write.bind(socket) as (messages: Buffer, done?: () => void) => boolean
  return Object.assign(socket, {
    write: (messages: Buffer, done?: () => void) => write(change(messages), done),
  })
}

import { isIP, type Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { isPassing } from './failure.ts'
import { happened } from './socket-events.ts'

export type TlsOptions = {
  readonly host: string
  readonly sslmode: string
  /** Told of the encrypted socket before it is connected, so that it can be destroyed. */
  readonly use: (encrypted: Socket) => void
}

/**
 * Encrypts a socket that is connected. The driver could, but ends an encrypted session by writing to it, also where its
 * socket was destroyed, and the process with it.
 */
export async function beginTls(
  socket: Socket,
  { host, sslmode, use }: TlsOptions,
): Promise<Socket> {
  await askForTls(socket)
  const encrypted = connect({
    socket,
    host,
    // The extension is for names alone (RFC 6066 section 3).
    ...(isIP(host) === 0 && { servername: host }),
    rejectUnauthorized: sslmode === 'verify-full',
  })
  use(encrypted)
  await happened(encrypted, 'secureConnect').catch((error: unknown) => {
    throw isPassing(error) ? error : failed(explained(encrypted, error))
  })
  return encrypted
}

async function askForTls(socket: Socket): Promise<void> {
  socket.write(TLS_REQUEST)
  const answer = (await happened(socket, 'data')) as Buffer
  const told = answer.toString('latin1')
  if (told === TAKES_TLS) return
  socket.destroy()
  // More than the one byte would be somebody's in between, and read as if it had come encrypted.
  throw failed(
    told === TAKES_NO_TLS
      ? 'the server offers no TLS'
      : 'the server does not say whether it offers TLS',
  )
}

/** The documentation's SSLRequest ("Message Formats"): its length, and a code that is no version. */
const TLS_REQUEST = Buffer.from('0000000804d2162f', 'hex')
const TAKES_TLS = 'S'
const TAKES_NO_TLS = 'N'

const failed = (message: string) => Object.assign(new Error(message), { code: 'ETLS' })

function explained({ authorizationError }: TLSSocket, error: unknown): string {
  const code = String((error as { code?: unknown }).code ?? error)
  // Set where a certificate was judged and did not hold.
  return authorizationError == null
    ? `TLS cannot be agreed on (${code})`
    : `its certificate does not hold (${code})`
}

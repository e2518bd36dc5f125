import { isIP, type Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { isPassing, sessionLost } from './failure.ts'

export type TlsOptions = {
  readonly host: string
  readonly sslmode: string
  /** Called with the encrypted socket before it connects, so that the caller can destroy it. */
  readonly use: (encrypted: Socket) => void
}

/** Starts TLS without the driver, whose TLS can write to a destroyed socket and end the process. */
export async function beginTls(
  socket: Socket,
  { host, sslmode, use }: TlsOptions,
): Promise<Socket> {
  await requestTls(socket)
  const encrypted = connect({
    socket,
    host,
    // Server name indication is for names only (RFC 6066, section 3).
    ...(isIP(host) === 0 && { servername: host }),
    rejectUnauthorized: sslmode === 'verify-full',
  })
  use(encrypted)
  await socketEvent(encrypted, 'secureConnect').catch((error: unknown) => {
    throw isPassing(error) ? error : failed(explained(encrypted, error))
  })
  return encrypted
}

async function requestTls(socket: Socket): Promise<void> {
  socket.write(SSL_REQUEST)
  const answer = String(await socketEvent(socket, 'data'))
  if (answer === ACCEPTED) return
  socket.destroy()
  // More than one byte is an error too: a man in the middle may have added unencrypted bytes.
  const what = answer === REFUSED ? 'offers no TLS' : 'does not say whether it offers TLS'
  throw failed(`the server ${what}; set up TLS on it, or add ?sslmode=disable to the URL`)
}

/** SSLRequest (PostgreSQL, "Message Formats"): its length and the code of the request. */
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex')
const ACCEPTED = 'S'
const REFUSED = 'N'

const failed = (message: string) => Object.assign(new Error(message), { code: 'ETLS' })

function explained({ authorizationError }: TLSSocket, error: unknown): string {
  const code = String((error as { code?: unknown }).code ?? error)
  // Node sets this only if it has checked the certificate and rejected it.
  return authorizationError == null
    ? `TLS cannot be agreed on (${code})`
    : `its certificate is not valid (${code}); NODE_EXTRA_CA_CERTS names an authority of your own`
}

/** Resolves with the first event of this name. Rejects if the socket fails or closes first. */
export function socketEvent(
  socket: Socket,
  name: 'connect' | 'data' | 'secureConnect',
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    // Has no effect after the promise has resolved.
    socket.once('close', () => reject(sessionLost()))
    socket.once(name, (value: unknown) => {
      socket.off('error', reject)
      resolve(value)
    })
  })
}

import { request } from 'node:http'
import { connect } from 'node:net'

/** An answer as it came over the wire. */
export type RawAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[]
  readonly text: string
}

export type RawRequest = {
  readonly method?: string
  /** Names and values in turn, so that one may be sent twice. */
  readonly headers?: readonly string[]
  readonly body?: string | Uint8Array
}

/** A request whose path and headers are sent as they are: `fetch` would tidy up the one and join the others. */
export function rawRequest(url: string, path: string, sent: RawRequest = {}): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(url)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        path,
        method: sent.method ?? 'GET',
        agent: false,
        headers: ['host', host, ...(sent.headers ?? []), ...lengthOf(sent.body)],
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers as Record<string, string>,
            rawHeaders: incoming.rawHeaders,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(sent.body)
  })
}

const lengthOf = (body: string | Uint8Array | undefined): string[] =>
  body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))]

/** Sends bytes that need not be HTTP and gives back all that comes until the other side closes. */
export function rawSocket(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(bytes, 'latin1')))
    socket.setEncoding('utf8')
    socket.on('data', (text) => {
      received += text
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}

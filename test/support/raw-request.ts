import { type Agent, request } from 'node:http'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { checkAnswer } from './check-answers.ts'
import type { Called } from './harness.ts'

/** An answer as it arrived, but its text is decompressed. */
export type RawAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Names and values alternate, as sent. */
  readonly rawHeaders: readonly string[]
  readonly text: string
  /** The body before its text was decoded: it may be compressed. */
  readonly bytes: Buffer
}

export type RawRequest = {
  readonly method?: string
  /** Names and values alternate, so that a header can be sent twice. */
  readonly headers?: readonly string[]
  readonly body?: string | Uint8Array
  /** Keeps connections. Without one, each request has its own. */
  readonly agent?: Agent
}

/** Sends path and headers unchanged; `fetch` normalises paths and joins repeated headers. */
export function rawRequest(url: string, path: string, sent: RawRequest = {}): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(url)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        path,
        method: sent.method ?? 'GET',
        agent: sent.agent ?? false,
        headers: ['host', host, ...(sent.headers ?? []), ...lengthOf(sent.body)],
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks)
          const answer = {
            status: incoming.statusCode ?? 0,
            headers: incoming.headers as Record<string, string>,
            rawHeaders: incoming.rawHeaders,
            text: decoded(bytes, incoming.headers['content-encoding']),
            bytes,
          }
          try {
            checkAnswer(sent.method ?? 'GET', path, answer)
            resolve(answer)
          } catch (fault) {
            reject(fault)
          }
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(sent.body)
  })
}

/** A raw answer with a JSON body, for the assertions that take a `Called`. */
export const calledOf = ({ status, headers, text }: RawAnswer): Called => ({
  status,
  headers: new Headers(headers),
  text,
  body: JSON.parse(text),
})

/** A HEAD request is answered with the coding of a body that is not there. */
function decoded(body: Buffer, coding: string | undefined): string {
  const decode = body.length === 0 || coding === undefined ? undefined : decoders[coding]
  return (decode?.(body) ?? body).toString('utf8')
}

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
}

const lengthOf = (body: string | Uint8Array | undefined): string[] =>
  body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))]

/** Sends bytes that need not be HTTP. Returns everything received until the server closes. */
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

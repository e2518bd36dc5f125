import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { limits } from '../../platform/limits.ts'

/** The body of a stream, of which some is received before it is read. */
export type ReceivedBody = {
  readonly content: Readable
  readonly bytesReceived: () => number
  /** The SHA-256 of the bytes as they were sent, in hex. For after the last one, and once. */
  readonly sha256: () => string
  /** Lets the client finish, so that it reads the answer. */
  readonly close: () => void
}

/**
 * Receives a body ahead of its reading. Node notices that a client has left only after it has read
 * the bytes that the client sent. So a body must not stay in the operating system while it waits or
 * is read.
 */
export function receiveBody(source: Readable = Readable.from([])): ReceivedBody {
  const content = new PassThrough({ highWaterMark: limits.streamReceivedAheadBytes })
  const hash = createHash('sha256')
  let bytes = 0
  const note = (chunk: Uint8Array) => {
    bytes += chunk.length
    hash.update(chunk)
  }
  const cut = () => {
    if (!source.readableEnded) content.destroy(new Error('the source was closed before its end'))
  }
  // The reader of the content gets the error too.
  content.on('error', () => {})
  source.on('error', cut)
  source.on('data', note)
  source.pipe(content)
  if (source.destroyed) cut()
  else source.once('close', cut)
  return {
    content,
    bytesReceived: () => bytes,
    sha256: () => hash.digest('hex'),
    close: () => {
      source.off('data', note)
      source.unpipe(content)
      content.destroy()
      source.resume()
    },
  }
}

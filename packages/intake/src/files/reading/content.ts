import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { limitsOf, otherEncoding, withoutMark } from '@bursar/base'
import { UnreadableFile } from './lines.ts'

const limits = limitsOf({
  /** The content of a file, after decompression: about 60 million accounts. */
  importBytesMax: 32 * 1024 ** 3,
  /** Records compress to a twentieth. The ratio is not computed for the first bytes. */
  gzipRatioMax: 200,
  gzipRatioFreeBytes: 16 * 1024 * 1024,
})

type Bounds = {
  readonly contentBytesMax: number
  readonly gzipRatioMax: number
  readonly gzipRatioFreeBytes: number
}

/**
 * Reads the content of a source, decompressed if it is gzip. Refuses content without a bound. It
 * leaves the source open, since the connection of a request still needs its answer.
 */
export async function* readContent(
  source: Readable,
  { isGzip, bytesRead }: { readonly isGzip: boolean; readonly bytesRead: () => number },
  bounds: Bounds = fileBounds,
): AsyncIterable<Uint8Array> {
  let bytes = 0
  for await (const chunk of recognised(isGzip ? gunzip(source) : source.iterator(leftOpen))) {
    bytes += chunk.length
    if (bytes > bounds.contentBytesMax) {
      throw new UnreadableFile(`has more than ${bounds.contentBytesMax} bytes of content; split it`)
    }
    if (isGzip && bytes > Math.max(bounds.gzipRatioFreeBytes, bytesRead() * bounds.gzipRatioMax)) {
      throw new UnreadableFile(
        `decompresses to more than ${bounds.gzipRatioMax} times its size; if that is right, decompress it first`,
      )
    }
    yield chunk
  }
}

const fileBounds: Bounds = { ...limits, contentBytesMax: limits.importBytesMax }

const leftOpen = { destroyOnReturn: false } as const

async function* gunzip(source: Readable): AsyncIterable<Uint8Array> {
  const unzipped = createGunzip()
  const end = (error: Error = new Error('the source was closed before its end')) =>
    unzipped.destroy(error)
  source.on('error', end)
  // A client may leave while its stream waits for its turn, and then no error follows.
  const endIfCut = () => source.readableEnded || end()
  if (source.destroyed) endIfCut()
  else source.once('close', endIfCut)
  let [received, endOfBytes, hasHead] = [0, 0, false]
  source.on('data', (chunk: Buffer) => {
    const padding = chunk.length - 1 - chunk.findLastIndex((byte) => byte !== 0)
    if (padding < chunk.length) endOfBytes = received + chunk.length - padding
    if (received === 0) hasHead = chunk[0] === 0x1f
    received += chunk.length
  })
  try {
    yield* source.pipe(unzipped)
  } catch (error) {
    throw gzipFault(error, hasHead) ?? error
  }
  // Zeros may follow, as tapes and archives pad. The library ignores what follows them.
  if (endOfBytes > unzipped.bytesWritten) throw new UnreadableFile(notGzipAfter)
}

const notGzipAfter = 'is damaged as gzip, or has something else after its end'

/** Undefined if the error is not about the form. */
function gzipFault(error: unknown, hasHead: boolean): UnreadableFile | undefined {
  const { code } = error as { readonly code?: unknown }
  if (code === 'Z_BUF_ERROR') return new UnreadableFile('is not whole as gzip; was it cut off?')
  if (!String(code).startsWith('Z_')) return undefined
  return new UnreadableFile(
    hasHead ? notGzipAfter : 'is not compressed with gzip, as its name or Content-Encoding says',
  )
}

/** Formats that people mistake for text, by their first bytes, and what to do about each. */
const otherFormats: readonly (readonly [start: string, fault: string])[] = [
  ['1f8b', 'is compressed with gzip; its name must end with .gz'],
  ['504b0304', 'is a ZIP archive or a spreadsheet; save it as CSV in UTF-8'],
  ['28b52ffd', 'is compressed with zstd; decompress it first, or use gzip'],
]

/** Text has no NUL. A file that has one is refused once, not once for each line. */
const START_BYTES = 4096

/** Passes text on, once its first bytes have shown that it is text, however they arrive. */
async function* recognised(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let first: Uint8Array | undefined = new Uint8Array(0)
  const begin = (start: Uint8Array) => {
    first = undefined
    refuseOtherFormat(start)
    return withoutMark(start)
  }
  try {
    for await (const chunk of chunks) {
      if (first === undefined) yield chunk
      else {
        first = first.length === 0 ? chunk : Buffer.concat([first, chunk])
        if (first.length >= START_BYTES) yield begin(first)
      }
    }
  } catch (error) {
    if (first !== undefined && first.length > 0) yield begin(first)
    throw error
  }
  if (first !== undefined && first.length > 0) yield begin(first)
}

function refuseOtherFormat(chunk: Uint8Array): void {
  const start = Buffer.from(chunk.subarray(0, 4)).toString('hex')
  const fault = otherFormats.find(([form]) => start.startsWith(form))?.[1] ?? otherEncoding(chunk)
  if (fault !== undefined) throw new UnreadableFile(fault)
  if (chunk.subarray(0, START_BYTES).includes(0)) {
    throw new UnreadableFile('is a binary file, or UTF-16; records are text in UTF-8')
  }
}

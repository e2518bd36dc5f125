import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { limitsOf } from '@bursar/base'
import type { Answer } from '@bursar/contract'
import { serverLimits } from '../limits.ts'
import { type Coding, negotiateCoding } from './content-coding.ts'

const limits = limitsOf({
  /** Bodies that are being compressed: eight of the largest pages, about 20 ms of two threads. */
  compressedAtOnceBytesMax: 4 * 1024 * 1024,
})

/** Compresses an answer if the caller accepts it and it pays, else returns it unchanged. */
export type Compress = (
  answer: Answer,
  acceptEncoding: string | undefined,
) => Answer | Promise<Answer>

/**
 * Compression runs in the thread pool. The bytes in progress are bounded, because look-ups of names
 * wait behind them; past the bound an answer is sent uncompressed.
 *
 * `@fastify/compress` compresses small bodies on the event loop and larger ones as streams without
 * a bound, and cannot tell when a lent buffer is free. Records are not stored compressed, because
 * one alone compresses poorly and a page is a concatenation of them.
 */
export function openCompression(
  bytesInProgressMax: number = limits.compressedAtOnceBytesMax,
): Compress {
  let bytesInProgress = 0
  const compressBody = async (answer: Answer, body: Uint8Array, coding: Coding) => {
    bytesInProgress += body.length
    try {
      const coded = await coders[coding](body)
      // The page's buffer may be lent again: the answer is a copy now.
      answer.sent?.()
      answer.keepCoded?.(coding, coded)
      return codedAnswer(answer, coding, coded)
    } finally {
      bytesInProgress -= body.length
    }
  }
  return (answer, acceptEncoding) => {
    const coding = isWorthwhile(answer) ? negotiateCoding(acceptEncoding, offered) : undefined
    if (coding === undefined || answer.body === undefined) return answer
    const known = answer.coded?.get(coding)
    if (known !== undefined) return codedAnswer(answer, coding, known)
    if (bytesInProgress + lengthOf(answer.body) > bytesInProgressMax) return answer
    const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body
    return compressBody(answer, body, coding)
  }
}

const codedAnswer = ({ status, headers }: Answer, coding: Coding, body: Uint8Array): Answer => ({
  status,
  body,
  headers: { ...headers, 'content-encoding': coding },
})

/** The cheapest first. */
const offered: readonly Coding[] = ['zstd', 'br', 'gzip']

/** For each coding the cheapest level at which a page shrinks to about an eighth. */
const coders: Readonly<Record<Coding, (body: Uint8Array) => Promise<Buffer>>> = {
  zstd: (body) =>
    promisify(zstdCompress)(body, {
      chunkSize: chunkSizeFor(body),
      params: { [constants.ZSTD_c_compressionLevel]: 1 },
    }),
  br: (body) =>
    promisify(brotliCompress)(body, {
      chunkSize: chunkSizeFor(body),
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 3,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
      },
    }),
  gzip: (body) => promisify(gzip)(body, { chunkSize: chunkSizeFor(body), level: 5 }),
}

/** Room for the whole result of most bodies, since each further chunk is a round trip. */
const chunkSizeFor = (body: Uint8Array): number => Math.ceil(body.length / 4)

/**
 * A document that is coded already stays as it is. So does one with a strong tag, which names these
 * very bytes (RFC 9110 section 8.8.3). The tags of lists are weak, so every coding may share one.
 */
function isWorthwhile({ body, headers }: Answer): boolean {
  return (
    body !== undefined &&
    lengthOf(body) >= serverLimits.compressedBytesMin &&
    headers['content-encoding'] === undefined &&
    headers.etag?.startsWith('"') !== true
  )
}

const lengthOf = (body: Uint8Array | string): number => Buffer.byteLength(body)

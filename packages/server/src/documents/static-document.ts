import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import type { Answer, PublicDocument, Request, Route } from '@bursar/contract'
import { serverLimits } from '../limits.ts'
import { type Coding, negotiateCoding } from '../server/content-coding.ts'
import { unlessMatched } from '../server/entity-tag.ts'

/** A document, and the codings of it that are in a file. */
export type StaticDocument = PublicDocument & {
  readonly precompressed?: Readonly<Partial<Record<Coding, () => Promise<Uint8Array>>>>
}

/**
 * Serves a public document with an ETag, compressed as the caller accepts. The body, its tag and
 * each coding are made at the first request for them, on zlib's threads, and kept.
 */
export function staticDocument(document: StaticDocument): Route {
  const variants = document.changes
    ? latest(document)
    : once(async () => variantsOf(document, await document.body()))
  return {
    method: 'GET',
    path: document.path,
    operation: document.operation,
    answer: async (request) => answerOf(document, request, await variants()),
  }
}

type Variants = {
  readonly etag: string
  readonly body: Uint8Array
  readonly codings: readonly Coding[]
  readonly coded: Readonly<Record<Coding, () => Promise<Uint8Array>>>
}

async function answerOf(
  document: StaticDocument,
  { headers }: Request,
  { etag, body, codings, coded }: Variants,
): Promise<Answer> {
  const tagged = {
    ...document.headers,
    'cache-control': document.cacheControl,
    etag,
  }
  const whole = { status: 200, headers: tagged, body, isShared: true } as const
  const matched = unlessMatched(whole, headers['if-none-match'])
  if (matched.status === 304) return matched
  const typed = { ...tagged, 'content-type': document.contentType }
  const coding = negotiateCoding(headers['accept-encoding'], codings)
  if (coding === undefined) return { ...whole, headers: typed }
  return {
    ...whole,
    headers: { ...typed, 'content-encoding': coding },
    body: await coded[coding](),
  }
}

async function variantsOf(
  { precompressed = {} }: StaticDocument,
  content: string | Uint8Array<ArrayBuffer>,
): Promise<Variants> {
  const body = typeof content === 'string' ? Buffer.from(content) : content
  const digest = await crypto.subtle.digest('SHA-256', body)
  const coder = (coding: Coding) => once(precompressed[coding] ?? (() => compress[coding](body)))
  return {
    // Weak, because every coding has the same tag.
    etag: `W/"${Buffer.from(digest).toString('base64url').slice(0, 27)}"`,
    body,
    codings: body.length < serverLimits.compressedBytesMin ? [] : codingsOffered,
    coded: { br: coder('br'), zstd: coder('zstd'), gzip: coder('gzip') },
  }
}

/** In order of size. */
const codingsOffered: readonly Coding[] = ['br', 'zstd', 'gzip']

/** Slower than for an answer of the API, because each document is compressed once. */
const compress: Readonly<Record<Coding, (body: Uint8Array) => Promise<Uint8Array>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  zstd: (body) =>
    promisify(zstdCompress)(body, { params: { [constants.ZSTD_c_compressionLevel]: 12 } }),
  gzip: (body) => promisify(gzip)(body, { level: 9 }),
}

/** The variants of the current body. */
function latest(document: StaticDocument): () => Promise<Variants> {
  let known: { readonly content: unknown; readonly variants: Promise<Variants> } | undefined
  return async () => {
    const content = await document.body()
    if (known?.content !== content) known = { content, variants: variantsOf(document, content) }
    return known.variants
  }
}

/** Makes a value at the first call and keeps it. After a failure, the next call tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

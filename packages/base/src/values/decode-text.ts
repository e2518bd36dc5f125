import { isUtf8 } from 'node:buffer'

/**
 * The text of a file, without the byte order mark that editors and shells of Windows put before it,
 * or what the file is instead: the rest of a sentence.
 */
export function decodeText(bytes: Uint8Array): { readonly text: string } | { fault: string } {
  const fault =
    otherEncoding(bytes) ?? (isUtf8(bytes) ? undefined : 'is not UTF-8; save it as UTF-8')
  return fault === undefined ? { text: new TextDecoder().decode(bytes) } : { fault }
}

/** UTF-16, by the mark that stands before it. */
export const otherEncoding = ([first, second]: Uint8Array): string | undefined =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
    ? 'is UTF-16; save it as UTF-8'
    : undefined

/** Bytes without the byte order mark of UTF-8. */
export const withoutMark = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

import { bodyChecksums } from './checksum.ts'

/** What a page's query answers beside the bodies, each separated by commas, in the same order. */
export type PageChecksums = { readonly checksums: string; readonly lengths: string }

/**
 * The ids of the bodies of a page that do not match their checksums; empty text for an id that
 * cannot be read.
 */
export function damagedIds(
  customerId: string,
  items: Uint8Array,
  { checksums, lengths }: PageChecksums,
): readonly string[] {
  const expected = checksums.split(',').map(Number)
  const damaged: string[] = []
  const checksumOf = bodyChecksums(customerId)
  let start = 0
  for (const [at, length] of lengths.split(',').map(Number).entries()) {
    const body = items.subarray(start, start + length)
    // A comma separates two bodies.
    start += length + 1
    if (checksumOf(body) !== expected[at]) damaged.push(idOf(body))
  }
  return damaged
}

const idOf = (body: Uint8Array): string =>
  /^\{"id":"([0-9a-f-]{36})"/.exec(Buffer.from(body.subarray(0, 50)).toString('latin1'))?.[1] ?? ''

import type { Pace } from '@bursar/base'
import type { Entry } from '../../entry.ts'

/** The bytes of an entry before it is parsed. They may share the memory of what is read next. */
export type RawEntry = { readonly line: number; readonly raw: Uint8Array }

/** How a format is read. It is for one file. */
export type Format = {
  /** Splits the next bytes, and what `end` has left, into entries. */
  split(chunk: Buffer): Iterable<RawEntry>
  end(): Iterable<RawEntry>
  /** Undefined for a blank line. */
  parse(entry: RawEntry): Entry | undefined
}

/** Reads the entries of a file, one after the other. What stands before a failure comes first. */
export async function* readEntries(
  chunks: AsyncIterable<Uint8Array>,
  format: Format,
  pace: Pace = () => undefined,
): AsyncIterable<Entry> {
  for await (const entries of splitChunks(chunks, format)) {
    for (const raw of entries) {
      const turn = pace()
      if (turn !== undefined) await turn
      const entry = format.parse(raw)
      if (entry !== undefined) yield entry
    }
  }
}

async function* splitChunks(
  chunks: AsyncIterable<Uint8Array>,
  format: Format,
): AsyncIterable<Iterable<RawEntry>> {
  for await (const chunk of chunks) {
    yield format.split(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
  }
  yield format.end()
}

/** The begin of an entry. It may arrive byte by byte, so its pieces are joined now and then. */
export function openRest() {
  let pieces: Buffer[] = []
  let bytes = 0
  return {
    length: () => bytes,
    add: (piece: Buffer): void => {
      if (piece.length === 0) return
      // The memory of the chunk may be written again, or be far larger than the piece.
      pieces.push(Buffer.from(piece))
      bytes += piece.length
      if (pieces.length === PIECES_MAX) pieces = [Buffer.concat(pieces)]
    },
    /** The entry that ends with this piece. */
    take: (end: Buffer): Buffer => {
      if (bytes === 0) return end
      const entry = Buffer.concat([...pieces, end])
      pieces = []
      bytes = 0
      return entry
    },
  }
}

const PIECES_MAX = 256

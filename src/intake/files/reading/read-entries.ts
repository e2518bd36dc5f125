import { limits } from '../../../platform/limits.ts'
import type { Pace } from '../../../platform/time-slices.ts'
import type { Entry } from '../../entry.ts'
import type { RecordSource } from '../../source-digest.ts'

/** An entry that need not be parsed, because its record is stored as it is. */
export type Known = {
  readonly line: number
  readonly known: KnownAs
  readonly raw: Uint8Array
}

/** The stored record, and the digest that it has. */
export type KnownAs = { readonly id: string; readonly digest: bigint }

/** The bytes of an entry before it is parsed. They may share the memory of what is read next. */
export type RawEntry = { readonly line: number; readonly raw: Uint8Array }

/** Tells which entries need not be parsed, by their place in the list. */
export type FindKnown = (
  entries: readonly RawEntry[],
  sources: Sources,
) => Promise<readonly (KnownAs | undefined)[]>

/** What is known of a raw entry without parsing it. */
export type Sources = Pick<RecordSource, 'form'> & {
  textOf(entry: RawEntry): string
  /** The id that a text seems to have. If it is not the record's, the digests differ. */
  idIn(text: string): string | undefined
}

/** How a format is read. It is for one file. */
export type Format = {
  /** Splits the next bytes, and what `end` has left, into entries. */
  split(chunk: Buffer): Iterable<RawEntry>
  end(): Iterable<RawEntry>
  /** Undefined for a blank line. */
  parse(entry: RawEntry): Entry | undefined
  /** The same for an entry that is known. */
  skip(): void
  /** For after the first entry. */
  sources(): Sources
}

/**
 * Reads the entries of a file, some hundred at a time. Entries that are known are not parsed.
 * Memory holds one batch.
 */
export async function* readEntries(
  chunks: AsyncIterable<Uint8Array>,
  format: Format,
  findKnown?: FindKnown,
  pace: Pace = () => undefined,
): AsyncIterable<Entry | Known> {
  for await (const batch of batchesOf(chunks, format)) {
    const known = await findKnown?.(batch, format.sources())
    for (const [at, raw] of batch.entries()) {
      const turn = pace()
      if (turn !== undefined) await turn
      const knownAs = known?.[at]
      if (knownAs !== undefined) {
        format.skip()
        yield { ...raw, known: knownAs }
        continue
      }
      const entry = format.parse(raw)
      if (entry !== undefined) yield entry
    }
  }
}

/** What was split before a failure comes before it. */
async function* batchesOf(
  chunks: AsyncIterable<Uint8Array>,
  format: Format,
): AsyncIterable<readonly RawEntry[]> {
  let batch: RawEntry[] = []
  let bytes = 0
  let copied = 0
  const add = (entry: RawEntry): boolean => {
    batch.push(entry)
    bytes += entry.raw.length
    return batch.length === limits.linesLookedUp || bytes > limits.recordBytesMax
  }
  const take = () => {
    const taken = batch
    batch = []
    bytes = 0
    copied = 0
    return taken
  }
  try {
    for await (const chunk of chunks) {
      const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      for (const entry of format.split(buffer)) if (add(entry)) yield take()
      // The memory of the chunk may be written again.
      const kept = batch.slice(copied).map(({ line, raw }) => ({ line, raw: Buffer.from(raw) }))
      batch.splice(copied, kept.length, ...kept)
      copied = batch.length
    }
    for (const entry of format.end()) if (add(entry)) yield take()
  } catch (error) {
    if (batch.length > 0) yield take()
    throw error
  }
  if (batch.length > 0) yield take()
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

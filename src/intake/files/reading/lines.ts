import { limits } from '../../../platform/limits.ts'
import type { Pace } from '../../../platform/time-slices.ts'
import { type Entry, parseEntry } from '../../entry.ts'

/** A line that need not be parsed, because its record is stored as it is. */
export type Known = { readonly line: number; readonly known: true }

/** The bytes of a line, copied out of the buffer of the file. */
export type RawLine = { readonly line: number; readonly raw: Uint8Array }

/** Tells which lines need not be parsed. */
export type FindKnown = (lines: readonly RawLine[]) => Promise<ReadonlySet<number>>

/**
 * Begins each line of a file of rejected records that is a note, such as a reason. The first line
 * is one, and only a file that begins with it may have more.
 */
export const NOTE = '#~ '
const NOTE_BYTES = Buffer.from(NOTE)

/** How the lines of a source are read. */
export type LineReading = {
  /** Called before each line. */
  readonly pace: Pace
  readonly linesMax: number
  /** Of the whole source; a file has a limit of blank lines in a row alone. */
  readonly blankLinesMax: number
}

/** A command reads whole files, and has a process to itself. */
const fileReading: LineReading = {
  pace: () => undefined,
  linesMax: Number.POSITIVE_INFINITY,
  blankLinesMax: Number.POSITIVE_INFINITY,
}

const NEWLINE = 0x0a

/**
 * Reads newline-delimited JSON. Skips blank lines, and the notes of a file of rejected records.
 * Memory holds one line at a time.
 */
export async function* readNdjson(
  chunks: AsyncIterable<Uint8Array>,
  reading: LineReading = fileReading,
): AsyncIterable<Entry> {
  const parse = openParser(reading)
  for await (const { line, raw } of recordLines(chunks, reading)) {
    const entry = parse(line, raw)
    if (entry !== undefined) yield entry
  }
}

/** The same, some hundred lines at a time, and lines that are known are not parsed. */
export async function* readUnknownNdjson(
  chunks: AsyncIterable<Uint8Array>,
  findKnown: FindKnown,
): AsyncIterable<Entry | Known> {
  const parse = openParser(fileReading)
  let lines: RawLine[] = []
  let bytes = 0
  const flush = async function* (): AsyncIterable<Entry | Known> {
    const known = await findKnown(lines)
    for (const { line, raw } of lines) {
      const entry = known.has(line) ? ({ line, known: true } as const) : parse(line, raw)
      if (entry !== undefined) yield entry
    }
    lines = []
    bytes = 0
  }
  for await (const { line, raw } of recordLines(chunks, fileReading)) {
    lines.push({ line, raw: Buffer.from(raw) })
    bytes += raw.length
    if (lines.length === limits.linesLookedUp || bytes > limits.recordBytesMax) yield* flush()
  }
  yield* flush()
}

/** Every line but the notes. The bytes share the memory of what is read next. */
async function* recordLines(
  chunks: AsyncIterable<Uint8Array>,
  { pace, linesMax }: LineReading,
): AsyncIterable<RawLine> {
  let line = 0
  let hasNotes = false
  for await (const raw of splitLines(chunks)) {
    const turn = pace()
    if (turn !== undefined) await turn
    line += 1
    if (line > linesMax) {
      throw new UnreadableFile(`has more than ${linesMax} lines; split it`, line)
    }
    const isNote = raw[0] === NOTE_BYTES[0] && NOTE_BYTES.equals(raw.subarray(0, NOTE_BYTES.length))
    if (line === 1) hasNotes = isNote
    if (!(isNote && hasNotes)) yield { line, raw }
  }
}

/** Parses one line after the other, and bounds the blank ones, in a row and in all. */
function openParser({ blankLinesMax }: LineReading) {
  let [inRow, inAll] = [0, 0]
  return (line: number, raw: Uint8Array): Entry | undefined => {
    const entry = parseEntry(line, raw)
    if (entry !== undefined) {
      inRow = 0
      return entry
    }
    inRow += 1
    inAll += 1
    if (inRow > limits.blankLinesMax) throw tooManyBlankLines(line)
    if (inAll > blankLinesMax) {
      throw new UnreadableFile(`has more than ${blankLinesMax} blank lines`, line)
    }
    return undefined
  }
}

async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const rest = openRest()
  let line = 1
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      yield rest.take(bytes.subarray(from, end))
      from = end + 1
      line += 1
    }
    rest.add(bytes.subarray(from))
    if (rest.length() > limits.recordBytesMax) {
      throw new UnreadableFile(
        `${longerThanRecord('the line')}; is this a file of one record a line?`,
        line,
      )
    }
  }
  if (rest.length() > 0) yield rest.take(Buffer.alloc(0))
}

/** The begin of a line. A line may arrive byte by byte, so its pieces are joined now and then. */
function openRest() {
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
    /** The line that ends with this piece. */
    take: (end: Buffer): Buffer => {
      if (bytes === 0) return end
      const line = Buffer.concat([...pieces, end])
      pieces = []
      bytes = 0
      return line
    },
  }
}

const PIECES_MAX = 256

export const longerThanRecord = (what: string): string =>
  `${what} is longer than a record may be (${limits.recordBytesMax} bytes)`

export const tooManyBlankLines = (line: number): UnreadableFile =>
  new UnreadableFile(`has more than ${limits.blankLinesMax} blank lines in a row`, line)

/** The file cannot be read past `line`, or at all if it is 0. Earlier faults are still reported. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
  readonly line: number

  constructor(message: string, line = 0) {
    super(message)
    this.line = line
  }
}

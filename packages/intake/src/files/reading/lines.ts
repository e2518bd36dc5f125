import type { Pace } from '@bursar/base'
import { contractLimits } from '@bursar/contract'
import { type Entry, parseEntry } from '../../entry.ts'
import { intakeLimits } from '../../limits.ts'
import { type Format, openRest, type RawEntry, readEntries } from './read-entries.ts'

/**
 * Begins each line of a file of rejected records that is a note, such as a reason. The first line
 * is one, and only a file that begins with it may have more.
 */
export const NOTE = '#~ '
const NOTE_BYTES = Buffer.from(NOTE)

/** Whether a line or a row is such a note. */
export const isNote = (raw: Buffer): boolean =>
  raw[0] === NOTE_BYTES[0] && NOTE_BYTES.equals(raw.subarray(0, NOTE_BYTES.length))

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
 */
export const readNdjson = (
  chunks: AsyncIterable<Uint8Array>,
  reading: LineReading = fileReading,
): AsyncIterable<Entry> => readEntries(chunks, ndjson(reading), reading.pace)

function ndjson(reading: LineReading): Format {
  const rest = openRest()
  let line = 0
  let hasNotes = false
  /** Undefined for a note. */
  const entryOf = (raw: Buffer): RawEntry | undefined => {
    line += 1
    if (line > reading.linesMax) {
      throw new UnreadableFile(`has more than ${reading.linesMax} lines; split it`, line)
    }
    if (line === 1) hasNotes = isNote(raw)
    return hasNotes && isNote(raw) ? undefined : { line, raw }
  }
  return {
    split: function* (chunk) {
      let from = 0
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        const entry = entryOf(rest.take(chunk.subarray(from, end)))
        if (entry !== undefined) yield entry
        from = end + 1
      }
      rest.add(chunk.subarray(from))
      if (rest.length() > contractLimits.recordBytesMax) {
        throw new UnreadableFile(
          `${longerThanRecord('the line')}; is this a file of one record a line?`,
          line + 1,
        )
      }
    },
    end: function* () {
      if (rest.length() === 0) return
      const entry = entryOf(rest.take(Buffer.alloc(0)))
      if (entry !== undefined) yield entry
    },
    parse: openParser(reading),
  }
}

/** Parses one line after the other, and bounds the blank ones, in a row and in all. */
function openParser({ blankLinesMax }: LineReading): Format['parse'] {
  let [inRow, inAll] = [0, 0]
  return ({ line, raw }) => {
    const entry = parseEntry(line, raw)
    if (entry !== undefined) {
      inRow = 0
      return entry
    }
    inRow += 1
    inAll += 1
    if (inRow > intakeLimits.blankLinesMax) throw tooManyBlankLines(line)
    if (inAll > blankLinesMax) {
      throw new UnreadableFile(`has more than ${blankLinesMax} blank lines`, line)
    }
    return undefined
  }
}

export const longerThanRecord = (what: string): string =>
  `${what} is longer than a record may be (${contractLimits.recordBytesMax} bytes)`

export const tooManyBlankLines = (line: number): UnreadableFile =>
  new UnreadableFile(`has more than ${intakeLimits.blankLinesMax} blank lines in a row`, line)

/** The file cannot be read past `line`, or at all if it is 0. Earlier faults are still reported. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
  readonly line: number

  constructor(message: string, line = 0) {
    super(message)
    this.line = line
  }
}

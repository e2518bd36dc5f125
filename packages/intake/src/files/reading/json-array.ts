import { isJsonBlank } from '@bursar/base'
import { contractLimits } from '@bursar/contract'
import { type Entry, parseEntry } from '../../entry.ts'
import { longerThanRecord, UnreadableFile } from './lines.ts'
import { type Format, openRest, type RawEntry, readEntries } from './read-entries.ts'

/**
 * Reads the elements of one JSON array, each with its line, which npm's streaming parsers do not
 * report. This only splits the bytes at commas; JSON.parse reads each element.
 */
export const readJsonArray = (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Entry> =>
  readEntries(chunks, jsonArray())

const code = { quote: 0x22, backslash: 0x5c, newline: 0x0a, return: 0x0d, comma: 0x2c } as const
/** `[` and `{`, `]` and `}`. They differ in one bit. */
const [OPENING, CLOSING, BRACKET] = [0x7b, 0x7d, 0x20]

function jsonArray(): Format {
  const rest = openRest()
  let [line, startLine, depth, blanks] = [1, 1, 0, 0]
  let [hasStarted, hasEnded, isQuoted, isEscaped] = [false, false, false, false]
  /** Whether the element has begun, and whether a comma stands before it. */
  let [isWithin, isAfterComma] = [false, false]
  /** The element that ends here. Undefined for an empty array. */
  const take = (end: Buffer, isLast: boolean): RawEntry | undefined => {
    const raw = rest.take(end)
    if (raw.length > contractLimits.recordBytesMax) throw tooLong(startLine)
    const entry = isWithin ? { line: startLine, raw: onOneLine(raw) } : { line, raw }
    const isEmpty = !isWithin && isLast && !isAfterComma
    isWithin = false
    isAfterComma = !isLast
    blanks = 0
    return isEmpty ? undefined : entry
  }
  const begin = () => {
    isWithin = true
    startLine = line
  }
  const skipBlank = () => {
    blanks += 1
    if (blanks <= contractLimits.recordBytesMax) return
    throw new UnreadableFile(longerThanRecord('the space between two records'), line)
  }
  return {
    split: function* (chunk) {
      let from = 0
      // An iterator over the bytes takes three times as long.
      for (let at = 0; at < chunk.length; at += 1) {
        if (isQuoted && !isEscaped) at = endOfPlain(chunk, at)
        if (at === chunk.length) break
        const byte = chunk[at] ?? 0
        if (byte === code.newline) line += 1
        if (isQuoted) {
          if (isEscaped) isEscaped = false
          else if (byte === code.backslash) isEscaped = true
          else if (byte === code.quote) isQuoted = false
          continue
        }
        if (depth === 0) {
          if (byte === 0x5b && !hasStarted) {
            depth = 1
            hasStarted = true
          } else if (isJsonBlank(byte)) skipBlank()
          else throw notOneArray(line)
          continue
        }
        const isEnd = depth === 1 && (byte | BRACKET) === CLOSING
        if (isEnd || (depth === 1 && byte === code.comma)) {
          const entry = take(isWithin ? chunk.subarray(from, at) : NOTHING, isEnd)
          if (isEnd) {
            depth = 0
            hasEnded = true
          }
          if (entry !== undefined) yield entry
          continue
        }
        if (!isWithin) {
          if (isJsonBlank(byte)) {
            skipBlank()
            continue
          }
          begin()
          from = at
        }
        if (byte === code.quote) isQuoted = true
        else if ((byte | BRACKET) === OPENING) depth += 1
        else if ((byte | BRACKET) === CLOSING) depth -= 1
      }
      if (isWithin) rest.add(chunk.subarray(from))
      if (rest.length() > contractLimits.recordBytesMax) throw tooLong(startLine)
    },
    end: () => {
      if (!hasStarted) throw new UnreadableFile('is empty; it must hold one JSON array')
      if (!hasEnded) throw new UnreadableFile('the JSON array has no end; is the file complete?')
      return []
    },
    parse: ({ line: at, raw }) => {
      const reason = 'has a comma without a record'
      return parseEntry(at, raw) ?? { line: at, code: 'not_json', reason }
    },
  }
}

/** Where a text goes on with something that decides on its end. Most bytes are before it. */
function endOfPlain(chunk: Buffer, from: number): number {
  for (let at = from; at < chunk.length; at += 1) {
    const byte = chunk[at]
    if (byte === code.quote || byte === code.backslash || byte === code.newline) return at
  }
  return chunk.length
}

const NOTHING = Buffer.alloc(0)

/** JSON has line ends between its tokens only, where a blank means the same. */
function onOneLine(element: Buffer): Buffer {
  if (!element.includes(code.newline) && !element.includes(code.return)) return element
  const line = Buffer.from(element)
  for (const [at, byte] of line.entries()) {
    if (byte === code.newline || byte === code.return) line[at] = 0x20
  }
  return line
}

const tooLong = (line: number): UnreadableFile =>
  new UnreadableFile(longerThanRecord('the record that starts here'), line)

const notOneArray = (line: number): UnreadableFile =>
  new UnreadableFile(
    'is not part of one JSON array; the name of a file of one record a line ends with .ndjson',
    line,
  )

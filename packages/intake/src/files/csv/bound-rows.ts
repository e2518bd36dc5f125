import { limitsOf } from '@bursar/base'
import { contractLimits } from '@bursar/contract'
import { intakeLimits } from '../../limits.ts'
import { longerThanRecord, tooManyBlankLines, UnreadableFile } from '../reading/lines.ts'
import { finder, NEWLINE, RETURN } from './line-ends.ts'

const limits = limitsOf({
  /** A statement with every balance has 3,065 columns. Their names are short, save metadata's. */
  csvColumnsMax: 4000,
  csvHeaderBytesMax: 256 * 1024,
})

const QUOTE = 0x22

/**
 * Refuses a header or row with too many bytes or cells, and too many blank lines, before the CSV
 * parser holds them in memory. Only quotes, delimiters and line ends matter for that.
 */
export async function* boundRows(
  chunks: AsyncIterable<Uint8Array>,
  delimiter: string,
): AsyncIterable<Uint8Array> {
  const bounds = openBounds(delimiter.charCodeAt(0))
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const [quote, carriageReturn] = [finder(bytes, QUOTE), finder(bytes, RETURN)]
    for (let at = 0; at < bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, at)
      const end = newline < 0 ? bytes.length : newline
      const isPlain = newline > at && quote(at) > end && carriageReturn(at) > end
      if (isPlain && bounds.passShort(end - at)) at = end + 1
      else at = bounds.pass(bytes, at)
    }
    yield chunk
  }
}

function openBounds(delimiterByte: number) {
  let isHeader = true
  let isQuoted = false
  let line = 1
  let startLine = 1
  let isAfterReturn = false
  let [bytes, cells, lineEnds] = [0, 1, 0]
  const endRow = () => {
    if (bytes > 0) isHeader = false
    bytes = 0
    cells = 1
    startLine = line
  }
  return {
    /** Passes a whole row, without quotes, that is too short to have too many cells. */
    passShort: (length: number): boolean => {
      if (bytes > 0 || isQuoted || length >= limits.csvColumnsMax) return false
      bytes = length
      line += 1
      lineEnds = 1
      isAfterReturn = false
      endRow()
      return true
    },
    /** Passes bytes up to the end of a line. Returns the place after them. */
    pass: (chunk: Buffer, from: number): number => {
      // An iterator over the bytes takes three times as long.
      for (let at = from; at < chunk.length; at += 1) {
        const byte = chunk[at]
        const isLineEnd = byte === NEWLINE || byte === RETURN
        if (isLineEnd && !(isAfterReturn && byte === NEWLINE)) line += 1
        isAfterReturn = byte === RETURN
        if (isLineEnd && !isQuoted) {
          // A blank line of Windows has two of these bytes.
          lineEnds += 1
          if (lineEnds > 2 * intakeLimits.blankLinesMax) throw tooManyBlankLines(line)
          endRow()
          if (byte === NEWLINE) return at + 1
          continue
        }
        lineEnds = 0
        bytes += 1
        if (byte === QUOTE) isQuoted = !isQuoted
        else if (byte === delimiterByte && !isQuoted) cells += 1
        if (bytes > (isHeader ? limits.csvHeaderBytesMax : contractLimits.recordBytesMax)) {
          throw tooLong(isHeader, startLine, isQuoted)
        }
        if (cells > limits.csvColumnsMax) {
          const what = isHeader ? 'the header' : 'the row'
          throw new UnreadableFile(`${what} has more than ${limits.csvColumnsMax} cells`, startLine)
        }
      }
      return chunk.length
    },
  }
}

function tooLong(isHeader: boolean, line: number, isQuoted: boolean): UnreadableFile {
  const what = isHeader
    ? `the header is longer than ${limits.csvHeaderBytesMax} bytes`
    : longerThanRecord('the row')
  return new UnreadableFile(isQuoted ? `${what}; is a quotation mark missing?` : what, line)
}

import { limits } from '../../../platform/limits.ts'
import { longerThanRecord, tooManyBlankLines, UnreadableFile } from '../reading/lines.ts'

const code = { quote: 0x22, newline: 0x0a, carriageReturn: 0x0d } as const

/**
 * Refuses a header or row with too many bytes or cells, and too many blank lines, before the CSV
 * parser holds them in memory. Only quotes, delimiters and line ends matter for that.
 */
export async function* guardCsv(
  chunks: AsyncIterable<Uint8Array>,
  delimiter: string,
): AsyncIterable<Uint8Array> {
  const delimiterByte = delimiter.charCodeAt(0)
  let isHeader = true
  let isQuoted = false
  let line = 1
  let startLine = 1
  let [bytes, cells, lineEnds] = [0, 1, 0]
  for await (const chunk of chunks) {
    // An iterator over the bytes takes three times as long.
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]
      if (byte === code.newline) line += 1
      if ((byte === code.newline || byte === code.carriageReturn) && !isQuoted) {
        // A blank line of Windows has two of these bytes.
        lineEnds += 1
        if (lineEnds > 2 * limits.blankLinesMax) throw tooManyBlankLines(line)
        if (bytes > 0) isHeader = false
        bytes = 0
        cells = 1
        startLine = line
        continue
      }
      lineEnds = 0
      bytes += 1
      if (byte === code.quote) isQuoted = !isQuoted
      else if (byte === delimiterByte && !isQuoted) cells += 1
      if (bytes > (isHeader ? limits.csvHeaderBytesMax : limits.recordBytesMax)) {
        throw tooLong(isHeader, startLine, isQuoted)
      }
      if (cells > limits.csvColumnsMax) {
        const what = isHeader ? 'the header' : 'the row'
        throw new UnreadableFile(`${what} has more than ${limits.csvColumnsMax} cells`, startLine)
      }
    }
    yield chunk
  }
}

function tooLong(isHeader: boolean, line: number, isQuoted: boolean): UnreadableFile {
  const what = isHeader
    ? `the header is longer than ${limits.csvHeaderBytesMax} bytes`
    : longerThanRecord('the row')
  return new UnreadableFile(isQuoted ? `${what}; is a quotation mark missing?` : what, line)
}

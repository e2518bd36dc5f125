import { isUtf8 } from 'node:buffer'
import { UnreadableFile } from '../reading/lines.ts'

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d

/**
 * Refuses text that is not UTF-8, which would be imported with wrong letters, and names its line.
 * Passes on whole lines: neither byte of a line end is part of another character.
 */
export async function* refuseOtherEncodings(
  chunks: AsyncIterable<Uint8Array>,
): AsyncIterable<Buffer> {
  let line = 1
  for await (const lines of wholeLines(chunks)) {
    if (!isUtf8(lines)) throw new UnreadableFile('is not UTF-8', line + linesBeforeFault(lines))
    line += lineEndsIn(lines)
    yield lines
  }
}

/** `guard.ts` has bounded each line. */
async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk])
    const end = Math.max(bytes.lastIndexOf(NEWLINE), bytes.lastIndexOf(CARRIAGE_RETURN)) + 1
    if (end > 0) yield bytes.subarray(0, end)
    rest = bytes.subarray(end)
  }
  if (rest.length > 0) yield rest
}

function linesBeforeFault(lines: Buffer): number {
  let line = 0
  for (let from = 0; ; line += 1) {
    const end = lines.indexOf(lineEndOf(lines), from)
    if (end < 0 || !isUtf8(lines.subarray(from, end))) return line
    from = end + 1
  }
}

function lineEndsIn(lines: Buffer): number {
  let count = 0
  const lineEnd = lineEndOf(lines)
  for (let at = lines.indexOf(lineEnd); at >= 0; at = lines.indexOf(lineEnd, at + 1)) count += 1
  return count
}

/** Old files of the Macintosh end a line with a carriage return alone. */
const lineEndOf = (lines: Buffer): number => (lines.includes(NEWLINE) ? NEWLINE : CARRIAGE_RETURN)

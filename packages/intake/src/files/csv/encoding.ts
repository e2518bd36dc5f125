import { isUtf8 } from 'node:buffer'
import { UnreadableFile } from '../reading/lines.ts'
import { lineEndFinder, lineEndsIn, NEWLINE, RETURN } from './line-ends.ts'

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
    // The second byte of a line end may come with the next chunk.
    const beforeLast = Math.max(bytes.length - 2, 0)
    const end = Math.max(bytes.lastIndexOf(NEWLINE), bytes.lastIndexOf(RETURN, beforeLast)) + 1
    if (end > 0) yield bytes.subarray(0, end)
    rest = bytes.subarray(end)
  }
  if (rest.length > 0) yield rest
}

function linesBeforeFault(lines: Buffer): number {
  const endFrom = lineEndFinder(lines)
  let [count, from] = [0, 0]
  for (;;) {
    const { at, length } = endFrom(from)
    if (!isUtf8(lines.subarray(from, at))) return count
    from = at + length
    count += 1
  }
}

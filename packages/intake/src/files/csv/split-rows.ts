import { isNote, NOTE } from '../reading/lines.ts'
import type { RawEntry } from '../reading/read-entries.ts'
import { lineEndFinder, lineEndsIn, RETURN } from './line-ends.ts'

const QUOTE = 0x22

export type RowSplitter = {
  split(chunk: Buffer): Iterable<RawEntry>
  end(): Iterable<RawEntry>
}

/**
 * Splits CSV into rows with the lines on which they start. A row ends at each line end that no
 * quotation marks enclose. Skips blank lines, and the notes of a file of rejected records.
 * `guard.ts` has bounded each row.
 */
export function rowSplitter(): RowSplitter {
  let rest: Buffer = Buffer.alloc(0)
  let line = 1
  let [hasBegun, hasNotes] = [false, false]
  /** How many bytes of the rest were searched, and whether they end within quotation marks. */
  let [searched, isQuoted] = [0, false]
  const begin = (bytes: Buffer) => {
    hasBegun = true
    hasNotes = isNote(bytes)
  }
  const rowOf = (raw: Buffer): RawEntry | undefined => {
    const entry = { line, raw }
    line += 1 + lineEndsIn(raw)
    return raw.length === 0 || (hasNotes && isNote(raw)) ? undefined : entry
  }
  const rowsIn = function* (bytes: Buffer, isLast: boolean): Iterable<RawEntry> {
    const endFrom = lineEndFinder(bytes)
    // The second byte of a line end may come with the next chunk.
    const limit = isLast || bytes.at(-1) !== RETURN ? bytes.length : bytes.length - 1
    let from = 0
    let at = searched
    for (;;) {
      const end = endFrom(at)
      const until = Math.min(end.at, limit)
      const hasNoQuotes = hasNotes && isNote(bytes.subarray(from))
      if (!hasNoQuotes && hasOddQuotes(bytes.subarray(at, until))) isQuoted = !isQuoted
      at = until
      if (until === limit) break
      at += end.length
      if (isQuoted) continue
      const row = rowOf(bytes.subarray(from, end.at))
      from = at
      if (row !== undefined) yield row
    }
    rest = bytes.subarray(from)
    searched = limit - from
  }
  return {
    split: function* (chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      if (!hasBegun && bytes.length < NOTE.length) rest = bytes
      else {
        if (!hasBegun) begin(bytes)
        yield* rowsIn(bytes, false)
      }
      rest = Buffer.from(rest)
    },
    end: function* () {
      if (!hasBegun) begin(rest)
      yield* rowsIn(rest, true)
      const row = rowOf(rest)
      if (row !== undefined) yield row
    },
  }
}

function hasOddQuotes(bytes: Buffer): boolean {
  let isOdd = false
  for (let at = bytes.indexOf(QUOTE); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) isOdd = !isOdd
  return isOdd
}

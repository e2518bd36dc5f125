import { isNote } from '../reading/lines.ts'
import type { RawEntry } from '../reading/read-entries.ts'

const [QUOTE, NEWLINE, RETURN] = [0x22, 0x0a, 0x0d]
const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

export type RowSplitter = {
  split(chunk: Buffer): Iterable<RawEntry>
  end(): Iterable<RawEntry>
  /** What ends each row: the first line end that no quotation marks enclose. */
  lineEnd(): Buffer
}

/**
 * Splits CSV into rows with the lines on which they start. Skips blank rows, and the notes of a
 * file of rejected records. `guard.ts` has bounded each row.
 */
export function rowSplitter(): RowSplitter {
  let rest: Buffer = Buffer.alloc(0)
  let lineEnd: Buffer | undefined
  let line = 1
  let [hasBegun, hasNotes] = [false, false]
  /** How many bytes of the rest were searched, and whether they end within quotation marks. */
  let [searched, isQuoted] = [0, false]
  const begin = (bytes: Buffer): Buffer => {
    hasBegun = true
    hasNotes = isNote(bytes)
    const hasMark = BYTE_ORDER_MARK.equals(bytes.subarray(0, BYTE_ORDER_MARK.length))
    return hasMark ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes
  }
  const rowOf = (raw: Buffer): RawEntry | undefined => {
    const entry = { line, raw }
    line += 1 + lineEndsIn(raw)
    return raw.length === 0 || (hasNotes && isNote(raw)) ? undefined : entry
  }
  const lineEndsIn = (raw: Buffer): number => {
    const last = lineEnd?.at(-1) ?? NEWLINE
    let count = 0
    for (let at = raw.indexOf(last); at >= 0; at = raw.indexOf(last, at + 1)) count += 1
    return count
  }
  /** Where the row ends that begins at a place. Negative if it ends later. */
  const endOf = (bytes: Buffer, from: number, isLast: boolean): number => {
    const hasNoQuotes = hasNotes && isNote(bytes.subarray(from))
    let at = from + searched
    for (;;) {
      lineEnd ??= firstLineEnd(bytes, { from: at, isQuoted, isLast })
      const end = lineEnd === undefined ? -1 : bytes.indexOf(lineEnd, at)
      // The second byte of a line end may come with the next chunk.
      const mayEnd = !isLast && bytes.at(-1) === RETURN
      const until = end >= 0 ? end : Math.max(at, bytes.length - (mayEnd ? 1 : 0))
      if (!hasNoQuotes && hasOddQuotes(bytes.subarray(at, until))) isQuoted = !isQuoted
      at = end >= 0 ? end + (lineEnd?.length ?? 0) : until
      searched = at - from
      if (end < 0 || !isQuoted) return end
    }
  }
  const rowsIn = function* (bytes: Buffer, isLast: boolean): Iterable<RawEntry> {
    let from = 0
    for (let end = endOf(bytes, from, isLast); end >= 0; end = endOf(bytes, from, isLast)) {
      const row = rowOf(bytes.subarray(from, end))
      from = end + (lineEnd?.length ?? 0)
      searched = 0
      if (row !== undefined) yield row
    }
    rest = bytes.subarray(from)
  }
  return {
    split: function* (chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      if (!hasBegun && bytes.length < BYTE_ORDER_MARK.length) rest = bytes
      else yield* rowsIn(hasBegun ? bytes : begin(bytes), false)
      rest = Buffer.from(rest)
    },
    end: function* () {
      yield* rowsIn(hasBegun ? rest : begin(rest), true)
      const row = rowOf(rest)
      if (row !== undefined) yield row
    },
    lineEnd: () => lineEnd ?? Buffer.of(NEWLINE),
  }
}

function hasOddQuotes(bytes: Buffer): boolean {
  let isOdd = false
  for (let at = bytes.indexOf(QUOTE); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) isOdd = !isOdd
  return isOdd
}

type Search = { readonly from: number; readonly isQuoted: boolean; readonly isLast: boolean }

/** The line end of Unix, Windows or old Macintosh files. Undefined if it has not come yet. */
function firstLineEnd(bytes: Buffer, { from, isLast, ...search }: Search): Buffer | undefined {
  let { isQuoted } = search
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (byte === NEWLINE) return Buffer.of(NEWLINE)
    else if (byte === RETURN) {
      if (bytes[at + 1] === NEWLINE) return Buffer.of(RETURN, NEWLINE)
      return at + 1 < bytes.length || isLast ? Buffer.of(RETURN) : undefined
    }
  }
  return undefined
}

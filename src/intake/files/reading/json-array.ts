import { limits } from '../../../platform/limits.ts'
import { type Entry, parseEntry } from '../../entry.ts'
import { longerThanRecord, UnreadableFile } from './lines.ts'

const code = { quote: 0x22, backslash: 0x5c, newline: 0x0a, comma: 0x2c } as const
const opening = new Set([0x5b, 0x7b])
const closing = new Set([0x5d, 0x7d])
const blank = new Set([0x20, 0x09, 0x0a, 0x0d])
const byteOrderMark = new Set([0xef, 0xbb, 0xbf])

/**
 * Reads the elements of one JSON array, each with its line, which npm's streaming parsers do not
 * report. Memory holds one element. This only splits the bytes at commas; JSON.parse reads each
 * element.
 */
export async function* readJsonArray(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Entry> {
  const state = startState()
  let element: number[] = []
  let startLine = 1
  let afterComma = false
  let blanks = 0
  for await (const chunk of chunks) {
    for (const byte of chunk) {
      const before = state.depth
      const role = step(state, byte)
      const isEnd = before === 1 && state.depth === 0
      if (role === 'separator' || isEnd) {
        const entry = parseEntry(startLine, Uint8Array.from(element, onOneLine))
        if (entry !== undefined) yield entry
        else if (!isEnd || afterComma) {
          const reason = 'has a comma without a record'
          yield { line: state.line, code: 'not_json', reason }
        }
        afterComma = !isEnd
        element = []
        blanks = 0
        continue
      }
      if (element.length === 0 && blank.has(byte)) {
        blanks += 1
        if (blanks <= limits.recordBytesMax) continue
        throw new UnreadableFile(longerThanRecord('the space between two records'), state.line)
      }
      if (before === 0) continue
      if (element.length === 0) startLine = state.line
      element.push(byte)
      if (element.length > limits.recordBytesMax) {
        throw new UnreadableFile(longerThanRecord('the record that starts here'), startLine)
      }
    }
  }
  if (!state.started) throw new UnreadableFile('is empty; it must hold one JSON array')
  if (!state.ended) throw new UnreadableFile('the JSON array has no end; is the file complete?')
}

/** JSON has line ends between its tokens only, where a blank means the same. */
const onOneLine = (byte: number): number => (byte === code.newline || byte === 0x0d ? 0x20 : byte)

const startState = () => ({
  depth: 0,
  inString: false,
  escaped: false,
  line: 1,
  started: false,
  ended: false,
})

/** Reads one byte and returns whether it separates two elements. */
function step(state: ReturnType<typeof startState>, byte: number): 'separator' | 'other' {
  if (byte === code.newline) state.line += 1
  if (state.inString) {
    if (state.escaped) state.escaped = false
    else if (byte === code.backslash) state.escaped = true
    else if (byte === code.quote) state.inString = false
    return 'other'
  }
  if (state.depth === 0) {
    if (byte === 0x5b && !state.started) {
      state.depth = 1
      state.started = true
    } else if (!blank.has(byte) && !byteOrderMark.has(byte)) {
      throw new UnreadableFile(
        'is not part of one JSON array; the name of a file of one record a line ends with .ndjson',
        state.line,
      )
    }
    return 'other'
  }
  if (byte === code.quote) state.inString = true
  else if (opening.has(byte)) state.depth += 1
  else if (closing.has(byte)) {
    state.depth -= 1
    state.ended = state.depth === 0
  } else if (byte === code.comma && state.depth === 1) return 'separator'
  return 'other'
}

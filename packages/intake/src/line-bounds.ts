import { counted, limitsOf } from '@bursar/base'
import type { RecordFault } from '@bursar/contract'
import { intakeLimits } from './limits.ts'

const limits = limitsOf({
  /** Values of a record in all: a statement with every balance has 4,100. */
  recordValuesMax: 5000,
  /** A shorter line is parsed in microseconds, whatever its form. */
  recordScannedBytesMin: 4096,
})

const code = { quote: 0x22, backslash: 0x5c, comma: 0x2c } as const
type LineBoundsFault = Pick<RecordFault, 'code' | 'reason'>

/** `[` and `{`, `]` and `}`. They differ in one bit. */
const [OPENING, CLOSING, BRACKET] = [0x7b, 0x7d, 0x20]

/**
 * Why a line is not worth parsing: it is nested too deeply, or has too many values. Both take the
 * parser far longer than this scan. Undefined for every other line, JSON or not.
 */
export function lineBoundsFault(line: Uint8Array): LineBoundsFault | undefined {
  if (line.length < limits.recordScannedBytesMin) return undefined
  let depth = 0
  let values = 0
  let isQuoted = false
  // An iterator over the bytes takes three times as long.
  for (let at = 0; at < line.length; at += 1) {
    const byte = line[at] ?? 0
    if (isQuoted) {
      if (byte === code.quote) isQuoted = false
      else if (byte === code.backslash) at += 1
    } else if (byte === code.quote) isQuoted = true
    else if (byte === code.comma) values += 1
    else if ((byte | BRACKET) === OPENING) {
      depth += 1
      values += 1
      // The record itself has no level.
      if (depth > intakeLimits.recordDepthMax + 1) {
        const reason = `is nested too deeply; a record may have at most ${intakeLimits.recordDepthMax} levels`
        return { code: 'too_deep', reason }
      }
    } else if ((byte | BRACKET) === CLOSING) depth -= 1
    if (values > limits.recordValuesMax) {
      return {
        code: 'too_many',
        reason: `has more than ${counted(limits.recordValuesMax, 'value')}`,
      }
    }
  }
  return undefined
}

import { isUtf8 } from 'node:buffer'
import { jsonFault, repeatedMembers } from '@bursar/base'
import { contractLimits, echo, type RecordFault } from '@bursar/contract'
import { lineBoundsFault } from './line-bounds.ts'

/** One value of a file and the line that it starts on, or the fault of that line. */
export type Entry = {
  readonly line: number
  /** As it came. It may share the memory of what is read next. */
  readonly raw?: Uint8Array
} & ({ readonly value: unknown } | Pick<RecordFault, 'code' | 'reason'>)

/** Returns undefined for a blank line. */
export function parseEntry(line: number, bytes: Uint8Array): Entry | undefined {
  if (bytes.length === 0) return undefined
  const place = { line, raw: bytes }
  if (bytes.length > contractLimits.recordBytesMax) {
    const reason = `must have at most ${contractLimits.recordBytesMax} bytes`
    return { ...place, code: 'wrong_length', reason }
  }
  const outOfBounds = lineBoundsFault(bytes)
  if (outOfBounds !== undefined) return { ...place, ...outOfBounds }
  if (!isUtf8(bytes)) return { ...place, code: 'not_utf8', reason: 'is not UTF-8' }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const json = (line === 1 ? text.replace(/^\uFEFF/, '') : text).trim()
  if (json === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    return { ...place, code: 'not_json', reason: `is not JSON: ${jsonFault(error)}` }
  }
  const [member] = repeatedMembers(json, value)
  if (member === undefined) return { ...place, value }
  return { ...place, code: 'repeated', reason: `names the member ${echo(member)} twice` }
}

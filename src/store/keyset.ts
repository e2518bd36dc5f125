import type { Selection } from './store.ts'

/**
 * Where a record stands in its customer's order: 8 bytes of time (microseconds, big-endian, sign bit flipped so that
 * times before 1970 sort first) and the 16 bytes of its id. Comparing positions byte by byte is comparing
 * (time, id), so one column is the whole sort key and no two records share it.
 */
export type Position = Uint8Array

const TIME_BYTES = 8
export const POSITION_BYTES = TIME_BYTES + 16

export function positionOf(micros: bigint, id: string): Position {
  const position = Buffer.alloc(POSITION_BYTES)
  writeTime(position, micros)
  position.write(id.replaceAll('-', ''), TIME_BYTES, 'hex')
  return position
}

/** Both ends exclusive, as byte strings: an 8-byte prefix sorts before every position of that time. */
export type KeyRange = { readonly low: Uint8Array; readonly high: Uint8Array }

const BELOW_ALL: Uint8Array = new Uint8Array(0)
const ABOVE_ALL: Uint8Array = new Uint8Array(POSITION_BYTES + 1).fill(0xff)

/** The positions that a page may still show: the selection's time range, and what lies behind its cursor. */
export function rangeOf(selection: Selection): KeyRange {
  const low = selection.from === undefined ? BELOW_ALL : timePrefix(selection.from)
  const high = selection.before === undefined ? ABOVE_ALL : timePrefix(selection.before)
  if (selection.after === undefined) return { low, high }
  return selection.order === 'ASC'
    ? { low: later(low, selection.after), high }
    : { low, high: earlier(high, selection.after) }
}

function timePrefix(micros: bigint): Uint8Array {
  const bytes = Buffer.alloc(TIME_BYTES)
  writeTime(bytes, micros)
  return bytes
}

function writeTime(bytes: Buffer, micros: bigint): void {
  bytes.writeBigInt64BE(micros)
  bytes.writeUInt8(bytes.readUInt8(0) ^ 0x80, 0)
}

const later = (a: Uint8Array, b: Uint8Array): Uint8Array => (Buffer.compare(a, b) > 0 ? a : b)
const earlier = (a: Uint8Array, b: Uint8Array): Uint8Array => (Buffer.compare(a, b) < 0 ? a : b)

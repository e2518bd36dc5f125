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
  position.set(timePrefix(micros))
  position.write(id.replaceAll('-', ''), TIME_BYTES, 'hex')
  return position
}

/** The first 8 bytes of every position at this time; as a byte string it sorts before all of them. */
export function timePrefix(micros: bigint): Uint8Array {
  const bytes = Buffer.alloc(TIME_BYTES)
  bytes.writeBigInt64BE(micros)
  bytes.writeUInt8(bytes.readUInt8(0) ^ 0x80, 0)
  return bytes
}

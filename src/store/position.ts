/**
 * The sort key of a record: 8 bytes of time and the 16 bytes of its id. The time is in
 * microseconds, big-endian, with its sign bit flipped so that times before 1970 sort first.
 * Comparing two positions byte by byte compares (time, id), so one column sorts a list and no two
 * records share a position.
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

/**
 * The first 8 bytes of every position at this time. As a byte string, it sorts before all of them.
 */
export function timePrefix(micros: bigint): Uint8Array {
  const bytes = Buffer.alloc(TIME_BYTES)
  bytes.writeBigInt64BE(micros)
  bytes.writeUInt8(bytes.readUInt8(0) ^ 0x80, 0)
  return bytes
}

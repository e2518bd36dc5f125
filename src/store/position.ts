/**
 * The sort key of a record: its time in microseconds and the 16 bytes of its id. The time is
 * big-endian with its sign bit flipped, so that the order of the bytes is the order by (time, id).
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

/** The first 8 bytes of every position at this time. They sort before all of those positions. */
export function timePrefix(micros: bigint): Uint8Array {
  const bytes = Buffer.alloc(TIME_BYTES)
  bytes.writeBigInt64BE(micros)
  bytes.writeUInt8(bytes.readUInt8(0) ^ 0x80, 0)
  return bytes
}

/** The time of a position, in microseconds. */
export function positionMicros(position: Position): bigint {
  const time = Buffer.from(position.subarray(0, TIME_BYTES))
  time.writeUInt8(time.readUInt8(0) ^ 0x80, 0)
  return time.readBigInt64BE()
}

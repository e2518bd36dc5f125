import assert from 'node:assert/strict'
import { uuidText } from '@bursar/base'
import { placeDigest } from './lost-places.ts'
import type { RecordRead } from './record-reads.ts'
import type { CustomerPlace } from './records/customer-entries.ts'
import type { ChangePlace, EventPlace } from './records/events.ts'

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

/** The id of a position. */
export function positionId(position: Position): string {
  const hex = Buffer.from(position.subarray(TIME_BYTES)).toString('hex')
  return uuidText(hex)
}

/** A position with a text of 16 characters of ASCII, such as a memo, instead of an id. */
export function textPosition(micros: bigint, text: string): Position {
  assert.match(text, /^[\x20-\x7e]{16}$/, 'a text fills the place of an id')
  return Buffer.concat([timePrefix(micros), Buffer.from(text, 'latin1')])
}

/** The text of a position that `textPosition` has made. */
export const positionText = (position: Position): string =>
  Buffer.from(position.subarray(TIME_BYTES)).toString('latin1')

/** A place among the events of a customer, as a position. */
export function eventPosition({ digest, change, pruned }: EventPlace): Position {
  const numbers = Buffer.alloc(POSITION_BYTES - TIME_BYTES)
  numbers.writeBigInt64BE(change)
  numbers.writeBigInt64BE(pruned, numbers.length / 2)
  return Buffer.concat([timePrefix(digest), numbers])
}

/** The place of a position that `eventPosition` has made. */
export function eventPlaceOf(position: Position): EventPlace {
  const numbers = Buffer.from(position.subarray(TIME_BYTES))
  return {
    digest: positionMicros(position),
    change: numbers.readBigInt64BE(),
    pruned: numbers.readBigInt64BE(numbers.length / 2),
  }
}

/** A place in the log of changes, as a position. */
export function changePosition({ seq, offset, begun, salt }: ChangePlace): Position {
  const rest = Buffer.alloc(POSITION_BYTES - TIME_BYTES)
  rest.writeUInt16BE(offset)
  rest.writeUIntBE(Number(begun), 2, 6)
  rest.writeBigInt64BE(salt, 8)
  return Buffer.concat([timePrefix(seq), rest])
}

/** The place of a position that `changePosition` has made. */
export function changePlaceOf(position: Position): ChangePlace {
  const rest = Buffer.from(position.subarray(TIME_BYTES))
  return {
    seq: positionMicros(position),
    offset: rest.readUInt16BE(),
    begun: BigInt(rest.readUIntBE(2, 6)),
    salt: rest.readBigInt64BE(8),
  }
}

/** A place in the list of customers, as a position. */
export function customerPosition({ customer, place, idDigest, termDigest }: CustomerPlace) {
  const rest = Buffer.alloc(POSITION_BYTES - TIME_BYTES)
  rest.writeUInt16BE(place)
  rest.writeUIntBE(termDigest, 2, TERM_DIGEST_BYTES)
  rest.writeBigInt64BE(idDigest, 2 + TERM_DIGEST_BYTES)
  return Buffer.concat([timePrefix(customer), rest])
}

/** The place of a position that `customerPosition` has made. */
export function customerPlaceOf(position: Position): CustomerPlace {
  const rest = Buffer.from(position.subarray(TIME_BYTES))
  return {
    customer: positionMicros(position),
    place: rest.readUInt16BE(),
    termDigest: rest.readUIntBE(2, TERM_DIGEST_BYTES),
    idDigest: rest.readBigInt64BE(2 + TERM_DIGEST_BYTES),
  }
}

const TERM_DIGEST_BYTES = 6

/** The same of a term, in the bytes that a position has for it. */
export const termDigestOf = (term: string): number =>
  Number(BigInt.asUintN(8 * TERM_DIGEST_BYTES, placeDigest(term)))

/** A place in the list of who saw a record, as a position. */
export function readPosition({ at, number }: Pick<RecordRead, 'at' | 'number'>): Position {
  const rest = Buffer.alloc(POSITION_BYTES - TIME_BYTES)
  rest.writeBigInt64BE(number)
  return Buffer.concat([timePrefix(at), rest])
}

/** The place of a position that `readPosition` has made. */
export const readPlaceOf = (position: Position): Pick<RecordRead, 'at' | 'number'> => ({
  at: positionMicros(position),
  number: Buffer.from(position.subarray(TIME_BYTES)).readBigInt64BE(),
})

/** The time of a position, in microseconds. */
export function positionMicros(position: Position): bigint {
  const time = Buffer.from(position.subarray(0, TIME_BYTES))
  time.writeUInt8(time.readUInt8(0) ^ 0x80, 0)
  return time.readBigInt64BE()
}

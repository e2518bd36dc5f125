import { hash } from 'node:crypto'
import { uuidText } from '../values/uuid-text.ts'

/**
 * The ids of a customer's events are the numbers of its versions, sealed: their order shows how
 * many versions of kinds there are that a client may not read. An id is a UUID of version 8
 * (RFC 9562). Its 122 bits are a tag of 58 and the number, encrypted under the tag (a synthetic
 * initialisation vector, RFC 5297): equal numbers of one customer have equal ids, and another
 * customer's secret opens none.
 */
export function eventId(secret: Uint8Array, change: bigint): string {
  const tag = tagOf(secret, change)
  const bits = (tag << NUMBER_BITS) | (change ^ maskOf(secret, tag))
  const [high, middle, low] = [bits >> 74n, (bits >> 62n) & 0xfffn, bits & LOW]
  const hex = ((high << 80n) | (8n << 76n) | (middle << 64n) | (2n << 62n) | low)
    .toString(16)
    .padStart(32, '0')
  return uuidText(hex)
}

/** The number of an event; undefined for an id that the secret has not made. */
export function openEventId(secret: Uint8Array, id: string): bigint | undefined {
  const value = BigInt(`0x${id.replaceAll('-', '')}`)
  const bits = ((value >> 80n) << 74n) | (((value >> 64n) & 0xfffn) << 62n) | (value & LOW)
  const tag = bits >> NUMBER_BITS
  const change = (bits & NUMBERS) ^ maskOf(secret, tag)
  const isOwn = tagOf(secret, change) === tag && eventId(secret, change) === id
  return isOwn ? change : undefined
}

const NUMBER_BITS = 64n
const NUMBERS = (1n << NUMBER_BITS) - 1n
const LOW = (1n << 62n) - 1n

const tagOf = (secret: Uint8Array, change: bigint): bigint => digest(secret, 'tag', change) >> 6n

const maskOf = (secret: Uint8Array, tag: bigint): bigint => digest(secret, 'mask', tag)

/** The first 64 bits of a digest, which nobody without the secret can compute. */
function digest(secret: Uint8Array, use: 'tag' | 'mask', value: bigint): bigint {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return hash(
    'sha256',
    Buffer.concat([secret, Buffer.from(use), bytes]),
    'buffer',
  ).readBigUInt64BE()
}

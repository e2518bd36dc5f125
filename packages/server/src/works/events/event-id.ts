import { hash } from 'node:crypto'
import { uuidText } from '@bursar/base'
import { eventContent, type StoredEvent } from '@bursar/records'

/**
 * The id of a customer's event, a UUID of version 8 (RFC 9562). It seals the number of the version,
 * because the order of the numbers shows how many versions of kinds there are that a client may not
 * read. A restore, or a fail-over that lost changes, gives a number to another version later. So
 * the id also has a digest of what the event says, and no two events have one id. Of the 122 bits
 * 38 are a tag, and the others are encrypted under it (a synthetic initialisation vector, as in
 * RFC 5297). Equal events of one customer have equal ids, and another customer's secret opens none.
 */
export const eventId = (secret: Uint8Array, event: StoredEvent): string =>
  sealed(secret, (event.change << CONTENT_BITS) | contentOf(secret, event))

/** The number that an id names; undefined for an id that the secret has not made. */
export function openEventId(secret: Uint8Array, id: string): bigint | undefined {
  const value = BigInt(`0x${id.replaceAll('-', '')}`)
  const bits = ((value >> 80n) << 74n) | (((value >> 64n) & 0xfffn) << 62n) | (value & LOW)
  const named = (bits & NAMED) ^ maskOf(secret, bits >> NAMED_BITS)
  return sealed(secret, named) === id ? named >> CONTENT_BITS : undefined
}

/** A customer has fewer than 2^42 versions. */
const CONTENT_BITS = 42n
const NAMED_BITS = 84n
const NAMED = (1n << NAMED_BITS) - 1n
const LOW = (1n << 62n) - 1n

function sealed(secret: Uint8Array, named: bigint): string {
  const tag = digest(secret, 'tag', named.toString(16)) >> NAMED_BITS
  const bits = (tag << NAMED_BITS) | (named ^ maskOf(secret, tag))
  const [high, middle, low] = [bits >> 74n, (bits >> 62n) & 0xfffn, bits & LOW]
  const hex = ((high << 80n) | (8n << 76n) | (middle << 64n) | (2n << 62n) | low)
    .toString(16)
    .padStart(32, '0')
  return uuidText(hex)
}

const contentOf = (secret: Uint8Array, event: StoredEvent): bigint =>
  digest(secret, 'content', eventContent(event)) >> (ID_BITS - CONTENT_BITS)

const maskOf = (secret: Uint8Array, tag: bigint): bigint =>
  digest(secret, 'mask', tag.toString(16)) & NAMED

const ID_BITS = 122n

/** The first 122 bits of a digest, which nobody without the secret can compute. */
function digest(secret: Uint8Array, use: 'tag' | 'content' | 'mask', value: string): bigint {
  const digits = hash('sha256', Buffer.concat([secret, Buffer.from(`${use} ${value}`)]), 'hex')
  return BigInt(`0x${digits.slice(0, 32)}`) >> 6n
}

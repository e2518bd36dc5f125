import { createHmac } from 'node:crypto'
import { type CustomerKey, KEY_ID_LENGTH } from './customer-key.ts'
import { NONCE_BYTES, openText, sealText } from './gcm.ts'
import { openRandomPool } from './random.ts'

/**
 * What a body belongs to. The digest names the version of the record: it is that of its content,
 * and stands beside the body.
 */
export type BodyPlace = {
  readonly customerId: string
  readonly kind: string
  readonly id: string
  readonly digest: number
}

/**
 * A digest of a body, of 52 bits, as a whole number. A CRC, or a digest without a key, would give
 * away the digits that a masked body hides: there are only so many to try.
 */
export function digestOf(key: CustomerKey, kind: string, id: string, body: string): number {
  const hmac = createHmac('sha256', key.digesting).update(`${kind}\0${id}\0${body}`)
  return Number.parseInt(hmac.digest('hex').slice(0, DIGITS), 16)
}

const DIGITS = 52 / 4

const takeNonce = openRandomPool()

/** AES-256-GCM as `<key id>.<base64 of nonce, tag and ciphertext>`, bound to its place. */
export function sealBody(key: CustomerKey, place: BodyPlace, body: string): string {
  const bytes = sealText(key.sealing, takeNonce(NONCE_BYTES), boundTo(place), body)
  return `${key.id}.${bytes.toString('base64')}`
}

/** Undefined if a bit has changed, or the body belongs to another place or has another key. */
export function openBody(key: CustomerKey, place: BodyPlace, sealed: string): string | undefined {
  const text = sealed.slice(KEY_ID_LENGTH + 1)
  const bytes = Buffer.from(text, 'base64')
  // Other texts decode to the same bytes, and one of them would pass for what was stored.
  if (bytes.toString('base64') !== text || sealed[KEY_ID_LENGTH] !== '.') return undefined
  return openText(key.sealing, boundTo(place), bytes)
}

/** Members of a record hold no NUL. */
const boundTo = ({ customerId, kind, id, digest }: BodyPlace): string =>
  `${customerId}\0${kind}\0${id}\0${digest}`

/** The id of the key that has sealed a body. Undefined for a text that is no sealed body. */
export const keyIdOf = (sealed: string): string | undefined =>
  sealed[KEY_ID_LENGTH] === '.' ? sealed.slice(0, KEY_ID_LENGTH) : undefined

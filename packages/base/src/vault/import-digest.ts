import { createHmac } from 'node:crypto'
import { NONCE_BYTES, openText, sealText } from './gcm.ts'
import { openRandomPool } from './random.ts'

/**
 * A digest of 128 bits, in hex, of the SHA-256 of a file, or of a request with an idempotency key.
 * A plain one would give away what a masked record hides: there are only so many records to try.
 */
export const importDigest = (key: Buffer, of: 'file' | 'request', text: string): string =>
  createHmac('sha256', key).update(`${of}\0${text}`).digest('hex').slice(0, DIGITS)

const DIGITS = 128 / 4

/** The key of the answer of one import. It opens no other, so a process of its own may have it. */
export const answerKeyOf = (key: Buffer, importId: string): Buffer =>
  createHmac('sha256', key).update(`answer\0${importId}`).digest()

const takeNonce = openRandomPool()

/** AES-256-GCM in base64: nonce, tag and ciphertext. */
export const sealAnswer = (answerKey: Uint8Array, importId: string, answer: string): string =>
  sealText(Buffer.from(answerKey), takeNonce(NONCE_BYTES), importId, answer).toString('base64')

/** Undefined for an answer that was changed, or is that of another import. */
export const openAnswer = (
  answerKey: Uint8Array,
  importId: string,
  sealed: string,
): string | undefined => openText(Buffer.from(answerKey), importId, Buffer.from(sealed, 'base64'))

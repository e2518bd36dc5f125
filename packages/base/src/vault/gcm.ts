import { createCipheriv, createDecipheriv } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
export const NONCE_BYTES = 12
// Set for both directions. By default Node accepts a tag of four bytes, which can be guessed.
const TAG_BYTES = 16

/** Seals a text with AES-256-GCM, bound to what it belongs to: nonce, tag and ciphertext. */
export function sealText(key: Buffer, nonce: Buffer, boundTo: string, text: string): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(boundTo))
  const sealed = [cipher.update(text, 'utf8'), cipher.final()]
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed])
}

/** Undefined if a bit has changed, or the key or what it is bound to is another one. */
export function openText(key: Buffer, boundTo: string, sealed: Buffer): string | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(boundTo))
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
  try {
    decipher.final()
  } catch {
    return undefined
  }
  return text.toString('utf8')
}

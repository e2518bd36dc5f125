import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import type { Secret } from '../secret.ts'
import type { Random } from './random.ts'

/** A master key. Its id is a fingerprint, stored with each key that it wraps. */
export type MasterKey = { readonly id: string; readonly key: Buffer }

export const masterKeyOf = (base64: Secret): MasterKey => {
  const key = Buffer.from(base64.reveal(), 'base64')
  const id = createHmac('sha256', key).update('bursar master key id').digest('hex').slice(0, 16)
  return { id, key }
}

const IV_BYTES = 12
// Set for both directions. By default Node accepts a tag of four bytes, which can be guessed.
const TAG_BYTES = 16

/** AES-256-GCM as `v1.<iv>.<tag>.<ciphertext>`. A key moved to another row does not open. */
export function wrapKey(master: MasterKey, key: Buffer, boundTo: string, random: Random): string {
  const iv = random(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', master.key, iv, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(boundTo))
  const sealed = Buffer.concat([cipher.update(key), cipher.final()])
  const parts = [iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'))
  return `v1.${parts.join('.')}`
}

/** Undefined if the master key or `boundTo` is another one, or if a bit has changed. */
export function unwrapKey(master: MasterKey, wrapped: string, boundTo: string): Buffer | undefined {
  const [version, iv, tag, sealed, ...rest] = wrapped.split('.')
  if (version !== 'v1' || !iv || !tag || !sealed || rest.length > 0) return undefined
  try {
    const decipher = createDecipheriv('aes-256-gcm', master.key, Buffer.from(iv, 'base64url'), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(boundTo))
    decipher.setAuthTag(Buffer.from(tag, 'base64url'))
    return Buffer.concat([decipher.update(Buffer.from(sealed, 'base64url')), decipher.final()])
  } catch {
    return undefined
  }
}

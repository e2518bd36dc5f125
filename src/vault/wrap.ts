import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import type { Secret } from '../platform/secret.ts'
import type { Random } from './random.ts'

/** A master key ready for use. The id is a fingerprint: it says which master wrapped a key, and no more. */
export type MasterKey = { readonly id: string; readonly key: Buffer }

export const masterKeyOf = (base64: Secret): MasterKey => {
  const key = Buffer.from(base64.reveal(), 'base64')
  const id = createHmac('sha256', key).update('bursar master key id').digest('hex').slice(0, 16)
  return { id, key }
}

const IV_BYTES = 12
// Given in both directions: without it Node accepts a tag cut to four bytes, which can be guessed.
const TAG_BYTES = 16

/**
 * Seals a key as `v1.<iv>.<tag>.<ciphertext>`, base64url, by AES-256-GCM. `boundTo` is authenticated with
 * it, so that a wrapped key moved to another row opens nowhere else.
 */
export function wrapKey(master: MasterKey, key: Buffer, boundTo: string, random: Random): string {
  const iv = random(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', master.key, iv, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(boundTo))
  const sealed = Buffer.concat([cipher.update(key), cipher.final()])
  return [
    'v1',
    ...[iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url')),
  ].join('.')
}

/** The key inside, or undefined where the master, the place or a single bit is not the one that sealed it. */
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

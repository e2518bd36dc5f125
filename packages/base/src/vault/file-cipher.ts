import { type Cipheriv, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/**
 * Enciphers one file that waits for a process, with a key that is nowhere else. The file is private
 * and short-lived, so it has no tag: AES-256 in counter mode keeps its length and its order.
 */
export type FileCipher = {
  readonly key: Buffer
  /** Enciphers the next bytes of the file. */
  encipher(bytes: Uint8Array): Buffer
}

const ALGORITHM = 'aes-256-ctr'

/** A key enciphers one file, so the counter may start at zero. */
const START = Buffer.alloc(16)

export function openFileCipher(): FileCipher {
  const key = randomBytes(32)
  const cipher: Cipheriv = createCipheriv(ALGORITHM, key, START)
  return { key, encipher: (bytes) => cipher.update(bytes) }
}

/** A stream that deciphers such a file from its beginning. */
export const openFileDecipher = (key: Uint8Array) => createDecipheriv(ALGORITHM, key, START)

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { NONCE_BYTES, openText, sealText } from './gcm.ts'

/** Encrypts what waits on a disk for a process, with a key that nobody else has. */
export type PassingCipher = {
  hide(text: string): string
  show(hidden: string): string
}

export function openPassingCipher(): PassingCipher {
  const key = randomBytes(32)
  let texts = 0n
  return {
    hide: (text) => {
      texts += 1n
      const nonce = Buffer.alloc(NONCE_BYTES)
      nonce.writeBigUInt64BE(texts)
      return sealText(key, nonce, '', text).toString('base64')
    },
    show: (hidden) => {
      const text = openText(key, '', Buffer.from(hidden, 'base64'))
      assert(text !== undefined, 'what this process has hidden is as it was')
      return text
    },
  }
}

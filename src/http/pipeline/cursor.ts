import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { limits } from '../../platform/limits.ts'
import { POSITION_BYTES, type Position } from '../../store/position.ts'
import type { Keyring } from '../../vault/keyring.ts'

/** The vault's keys that seal cursors. */
export type CursorKeys = {
  current(): { readonly id: string; readonly key: Uint8Array }
  byId(id: string): { readonly key: Uint8Array } | undefined
  /** Returns twelve bytes that no earlier call has returned. */
  nextNonce(): Uint8Array
}

/** Selects the vault's cursor keys. A key of another purpose opens no cursor. */
export function cursorKeysOf(keyring: Pick<Keyring, 'current' | 'byId'>): CursorKeys {
  return {
    current: () => keyring.current('cursor'),
    byId: (id) => {
      const key = keyring.byId(id)
      return key?.purpose === 'cursor' ? key : undefined
    },
    nextNonce: openNonces(),
  }
}

/** Draws nonces in bulk: asking the system for one costs as much as sealing a cursor. */
function openNonces(): () => Uint8Array {
  let pool = new Uint8Array(0)
  let used = 0
  return () => {
    if (used === pool.length) {
      pool = randomBytes(512 * NONCE_BYTES)
      used = 0
    }
    used += NONCE_BYTES
    return pool.subarray(used - NONCE_BYTES, used)
  }
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The last record of a page, and the log position at which the page was read. */
export type Place = { readonly position: Position; readonly logPosition: bigint | undefined }

const LOG_POSITION_BYTES = 8

/**
 * Seals a place into a cursor (AES-256-GCM). Tenant, operation, order and filters are authenticated
 * with it, so a cursor cannot be read, changed or used elsewhere
 * (docs/decisions/0006-cursor-sealing.md).
 *
 * Layout before base64url: version, length of the key's id, key id, nonce, sealed place, tag. The
 * place is the record's position and, where the store has one, the log position.
 */
export function sealCursor(keys: CursorKeys, place: Place, boundTo: readonly string[]): string {
  const { id, key } = keys.current()
  const head = Buffer.concat([Buffer.from([VERSION, id.length]), Buffer.from(id, 'latin1')])
  const nonce = keys.nextNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(associated(head, boundTo))
  const sealed = Buffer.concat([cipher.update(placeBytes(place)), cipher.final()])
  return Buffer.concat([head, nonce, sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Opens a cursor; undefined for a text that was not sealed for the same `boundTo`. */
export function openCursor(
  keys: CursorKeys,
  cursor: string,
  boundTo: readonly string[],
): Place | undefined {
  if (cursor.length > limits.cursorLengthMax) return undefined
  const bytes = Buffer.from(cursor, 'base64url')
  // Several base64url texts decode to the same bytes; only the one that was sealed is a cursor.
  if (bytes.toString('base64url') !== cursor || bytes[0] !== VERSION) return undefined
  const headBytes = 2 + (bytes[1] ?? 0)
  const placeLength = bytes.length - headBytes - NONCE_BYTES - TAG_BYTES
  if (!placeLengths.has(placeLength)) return undefined
  const head = bytes.subarray(0, headBytes)
  const key = keys.byId(head.toString('latin1', 2))?.key
  if (key === undefined) return undefined
  const nonce = bytes.subarray(headBytes, headBytes + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(associated(head, boundTo))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const sealed = bytes.subarray(headBytes + NONCE_BYTES, -TAG_BYTES)
    return placeOf(Buffer.concat([decipher.update(sealed), decipher.final()]))
  } catch {
    return undefined
  }
}

const placeLengths = new Set([POSITION_BYTES, POSITION_BYTES + LOG_POSITION_BYTES])

function placeBytes({ position, logPosition }: Place): Uint8Array {
  if (logPosition === undefined) return position
  const bytes = Buffer.alloc(POSITION_BYTES + LOG_POSITION_BYTES)
  bytes.set(position)
  bytes.writeBigUInt64BE(logPosition, POSITION_BYTES)
  return bytes
}

function placeOf(bytes: Buffer): Place {
  return {
    position: bytes.subarray(0, POSITION_BYTES),
    logPosition:
      bytes.length === POSITION_BYTES ? undefined : bytes.readBigUInt64BE(POSITION_BYTES),
  }
}

const associated = (head: Uint8Array, boundTo: readonly string[]): Buffer =>
  Buffer.concat([head, Buffer.from(JSON.stringify(boundTo))])

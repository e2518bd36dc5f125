import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
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

/** The layout of a cursor. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The last record of a page, and the log position at which the page was read. */
export type Place = { readonly position: Position; readonly logPosition: bigint | undefined }

const LOG_POSITION_BYTES = 8

/** What a cursor belongs to. */
export type Binding = {
  readonly tenant: string
  readonly operation: string
  readonly order: string
  /** The canonical form of the filters, a JSON array. */
  readonly filters: string
}

/** Why a cursor does not open. A cursor of another tenant is as unreadable as any other text. */
export type CursorFault = 'malformed' | 'other_list' | 'other_order' | 'other_filters'

/**
 * Seals a place into a cursor (AES-256-GCM). The tenant is authenticated with it; digests of
 * operation, order and filters are sealed in it. So a cursor cannot be read, changed or used
 * elsewhere, and its caller learns what it was issued for
 * (docs/decisions/0006-cursor-sealing.md).
 *
 * Layout before base64url: version, length of the key's id, key id, nonce, sealed digests and
 * place, tag. The place is the record's position and, where the store has one, the log position.
 */
export function sealCursor(keys: CursorKeys, place: Place, binding: Binding): string {
  const { id, key } = keys.current()
  const head = Buffer.concat([Buffer.from([VERSION, id.length]), Buffer.from(id, 'latin1')])
  const nonce = keys.nextNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(associated(head, binding.tenant))
  const plain = Buffer.concat([
    ...digestsOf(binding).map(([, digest]) => digest),
    placeBytes(place),
  ])
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([head, nonce, sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Opens a cursor that was sealed for the same binding, or tells the fault. */
export function openCursor(
  keys: CursorKeys,
  cursor: string,
  binding: Binding,
): Place | CursorFault {
  if (cursor.length > limits.cursorLengthMax) return 'malformed'
  const bytes = Buffer.from(cursor, 'base64url')
  // Several base64url texts decode to the same bytes; only the one that was sealed is a cursor.
  if (bytes.toString('base64url') !== cursor) return 'malformed'
  const plain = bytes[0] === VERSION ? unseal(keys, bytes, binding.tenant) : undefined
  if (plain === undefined) return 'malformed'
  let at = 0
  for (const [fault, digest] of digestsOf(binding)) {
    if (!digest.equals(plain.subarray(at, at + digest.length))) return fault
    at += digest.length
  }
  return placeOf(plain.subarray(at))
}

/** The sealed bytes; undefined for a text that was not sealed for the tenant. */
function unseal(keys: CursorKeys, bytes: Buffer, tenant: string): Buffer | undefined {
  const headBytes = 2 + (bytes[1] ?? 0)
  if (bytes.length < headBytes + NONCE_BYTES + POSITION_BYTES + TAG_BYTES) return undefined
  const head = bytes.subarray(0, headBytes)
  const key = keys.byId(head.toString('latin1', 2))?.key
  if (key === undefined) return undefined
  const nonce = bytes.subarray(headBytes, headBytes + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(associated(head, tenant))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const sealed = bytes.subarray(headBytes + NONCE_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(sealed), decipher.final()])
  } catch {
    return undefined
  }
}

const digestsOf = ({ operation, order, filters }: Binding): [CursorFault, Buffer][] => [
  ['other_list', digest(operation)],
  ['other_order', digest(order)],
  ['other_filters', digest(filters)],
]

/** Nobody gains from two filters with one digest: both are their own tenant's. */
const digest = (text: string): Buffer => hash('sha256', text, 'buffer').subarray(0, 16)

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

const associated = (head: Uint8Array, tenant: string): Buffer =>
  Buffer.concat([head, Buffer.from(tenant)])

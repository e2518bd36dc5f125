import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { limits } from '../../platform/limits.ts'
import { POSITION_BYTES, type Position } from '../../store/position.ts'
import { attempt } from '../../values/attempt.ts'
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

/** The last record of a page. */
export type Place = {
  readonly position: Position
  /** The position in the store's log at which the page was read. */
  readonly logPosition?: bigint | undefined
  /** The instant of a past page, in microseconds. */
  readonly asOf?: bigint | undefined
}

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
 * place, tag. The place is the record's position, a byte that tells which of its other fields
 * follow, and these.
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
  return attempt(() => {
    const sealed = bytes.subarray(headBytes + NONCE_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(sealed), decipher.final()])
  })
}

const digestsOf = ({ operation, order, filters }: Binding): [CursorFault, Buffer][] => [
  ['other_list', digest(operation)],
  ['other_order', digest(order)],
  ['other_filters', digest(filters)],
]

/** Nobody gains from two filters with one digest: both are their own tenant's. */
const digest = (text: string): Buffer => hash('sha256', text, 'buffer').subarray(0, 16)

const HAS_LOG_POSITION = 1
const HAS_AS_OF = 2

function placeBytes({ position, logPosition, asOf }: Place): Uint8Array {
  const flags =
    (logPosition === undefined ? 0 : HAS_LOG_POSITION) | (asOf === undefined ? 0 : HAS_AS_OF)
  return Buffer.concat([
    position,
    Buffer.from([flags]),
    ...[logPosition, asOf].map((field) => (field === undefined ? NO_FIELD : fieldBytes(field))),
  ])
}

const FIELD_BYTES = 8
const NO_FIELD = Buffer.alloc(0)

function fieldBytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(FIELD_BYTES)
  bytes.writeBigInt64BE(value)
  return bytes
}

function placeOf(bytes: Buffer): Place {
  const flags = bytes.readUInt8(POSITION_BYTES)
  const fields = bytes.subarray(POSITION_BYTES + 1)
  return {
    position: bytes.subarray(0, POSITION_BYTES),
    logPosition: flags & HAS_LOG_POSITION ? fields.readBigInt64BE(0) : undefined,
    asOf: flags & HAS_AS_OF ? fields.readBigInt64BE(fields.length - FIELD_BYTES) : undefined,
  }
}

const associated = (head: Uint8Array, tenant: string): Buffer =>
  Buffer.concat([head, Buffer.from(tenant)])

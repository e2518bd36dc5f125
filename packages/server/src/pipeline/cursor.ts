import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { attempt, type Keyring, limitsOf } from '@bursar/base'
import { POSITION_BYTES, type Position } from '@bursar/records'

const limits = limitsOf({
  /** A cursor has about 120 characters. */
  cursorLengthMax: 512,
})

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
  /** In lists whose order is that of a value, its text follows the position. */
  readonly position: Position
  /** When the records of the page's list had last changed, in microseconds. */
  readonly changedAt?: bigint | undefined
  /** The instant of a past page, in microseconds. */
  readonly asOf?: bigint | undefined
}

/** The list that a cursor belongs to. */
export type CursorScope = {
  readonly tenant: string
  readonly operation: string
  readonly order: string
  /** The canonical form of the filters, a JSON array. */
  readonly filters: string
}

/** What a cursor is sealed with: its tenant, and the digests of the rest of its scope. */
export type Binding = { readonly tenant: string; readonly digests: Buffer }

/** Binds the cursors of one request, so that each digest is computed once. */
export function bind({ tenant, operation, order, filters }: CursorScope): Binding {
  return {
    tenant,
    digests: Buffer.concat([nameDigest(operation), nameDigest(order), digest(filters)]),
  }
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
 * follow, these, and what follows the position.
 */
export function sealCursor(keys: CursorKeys, place: Place, { tenant, digests }: Binding): string {
  const { id, key } = keys.current()
  const associated = Buffer.from(headOf(id) + tenant)
  const nonce = keys.nextNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(associated)
  const sealed = cipher.update(Buffer.concat([digests, placeBytes(place)]))
  cipher.final()
  const head = associated.subarray(0, headLength(id.length))
  return Buffer.concat([head, nonce, sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Opens a cursor that was sealed for the same binding, or tells the fault. */
export function openCursor(
  keys: CursorKeys,
  cursor: string,
  { tenant, digests }: Binding,
): Place | CursorFault {
  if (cursor.length > limits.cursorLengthMax) return 'malformed'
  const bytes = Buffer.from(cursor, 'base64url')
  // Several base64url texts decode to the same bytes; only the one that was sealed is a cursor.
  if (bytes.toString('base64url') !== cursor) return 'malformed'
  const plain = bytes[0] === VERSION ? unseal(keys, bytes, tenant) : undefined
  if (plain === undefined) return 'malformed'
  const fault = digestFaults.find((_, index) => {
    const [start, end] = [index * DIGEST_BYTES, (index + 1) * DIGEST_BYTES]
    return plain.compare(digests, start, end, start, end) !== 0
  })
  return fault ?? placeOf(plain.subarray(digests.length))
}

/** What differs where the first, second or third digest differs. */
const digestFaults: readonly CursorFault[] = ['other_list', 'other_order', 'other_filters']

/** The sealed bytes; undefined for a text that was not sealed for the tenant. */
function unseal(keys: CursorKeys, bytes: Buffer, tenant: string): Buffer | undefined {
  const headBytes = headLength(bytes[1] ?? 0)
  if (bytes.length < headBytes + NONCE_BYTES + POSITION_BYTES + TAG_BYTES) return undefined
  const id = bytes.toString('latin1', 2, headBytes)
  const key = keys.byId(id)?.key
  if (key === undefined) return undefined
  const nonce = bytes.subarray(headBytes, headBytes + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(headOf(id) + tenant))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return attempt(() => {
    const opened = decipher.update(bytes.subarray(headBytes + NONCE_BYTES, -TAG_BYTES))
    decipher.final()
    return opened
  })
}

/** The version, the length of the key's id, and the id, which is ASCII. */
const headOf = (id: string): string => String.fromCharCode(VERSION, id.length) + id
const headLength = (idLength: number): number => 2 + idLength

const DIGEST_BYTES = 16

/** Nobody gains from two filters with one digest: both are their own tenant's. */
const digest = (text: string): Buffer => hash('sha256', text, 'buffer').subarray(0, DIGEST_BYTES)

const nameDigests = new Map<string, Buffer>()

/** The digest of an operation or an order, which are few, so each is computed once. */
function nameDigest(name: string): Buffer {
  const known = nameDigests.get(name) ?? digest(name)
  nameDigests.set(name, known)
  return known
}

const HAS_CHANGED_AT = 1
const HAS_AS_OF = 2

function placeBytes({ position, changedAt, asOf }: Place): Uint8Array {
  const flags =
    (changedAt === undefined ? 0 : HAS_CHANGED_AT) | (asOf === undefined ? 0 : HAS_AS_OF)
  return Buffer.concat([
    position.subarray(0, POSITION_BYTES),
    Buffer.from([flags]),
    ...[changedAt, asOf].map((field) => (field === undefined ? NO_FIELD : fieldBytes(field))),
    position.subarray(POSITION_BYTES),
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
  let fields = bytes.subarray(POSITION_BYTES + 1)
  const readField = () => {
    const field = fields.readBigInt64BE(0)
    fields = fields.subarray(FIELD_BYTES)
    return field
  }
  const changedAt = flags & HAS_CHANGED_AT ? readField() : undefined
  const asOf = flags & HAS_AS_OF ? readField() : undefined
  return { position: Buffer.concat([bytes.subarray(0, POSITION_BYTES), fields]), changedAt, asOf }
}

import assert from 'node:assert/strict'
import { purposes, type WrappedKey } from '../../../vault/purpose-key.ts'
import type { Client, ClientMethod, ClientSecret, ClientWithSecrets } from '../../credentials.ts'
import { optionalText, optionalWhole, text, whole } from '../driver/cells.ts'
import type { Row } from '../driver/connection.ts'

/** Of a table called `client`; read by `readClient`. */
export const clientColumns = `client.id, client.customer_id, client.name, client.scopes, client.method, client.jwks,
  client.issuer, client.external_id, client.created_at, client.not_before, client.disabled_at, client.last_used_at`

export function readClient(row: Row): Client {
  const scopes = text(row, 3)
  return {
    id: text(row, 0),
    customerId: optionalText(row, 1) ?? null,
    name: text(row, 2),
    scopes: scopes === '' ? [] : scopes.split(' '),
    method: readMethod(row),
    createdAt: whole(row, 8),
    notBefore: whole(row, 9),
    disabledAt: optionalWhole(row, 10),
    lastUsedAt: optionalWhole(row, 11),
  }
}

function readMethod(row: Row): ClientMethod {
  const kind = text(row, 4)
  if (kind === 'keys') return { kind, jwks: text(row, 5) }
  if (kind === 'issuer') return { kind, issuer: text(row, 6), externalId: text(row, 7) }
  assert(kind === 'secret', `A client's method is ${kind}, which this version does not know.`)
  return { kind }
}

/** After a client's columns, those of one of its secrets, all null where it has none. */
export const clientAndSecretColumns = `${clientColumns}, secret.id, secret.hash, secret.created_at, secret.last_used_at`

/** Rows of a client and one secret each, those of one client together and in the order of its secrets. */
export function readClientsWithSecrets(rows: readonly Row[]): ClientWithSecrets[] {
  const ofClients = Map.groupBy(rows, (row) => text(row, 0))
  return [...ofClients.values()].flatMap((ofOne) => {
    const [first] = ofOne
    return first === undefined
      ? []
      : [{ ...readClient(first), secrets: ofOne.filter(hasSecret).map(readSecret) }]
  })
}

const hasSecret = (row: Row): boolean => row[12] != null

const readSecret = (row: Row): ClientSecret => ({
  id: text(row, 12),
  hash: text(row, 13),
  createdAt: whole(row, 14),
  lastUsedAt: optionalWhole(row, 15),
})

export const keyColumns = 'id, purpose, wrapped, master_id, created_at, active_from, revoked_at'

/** Undefined for a purpose that only a later version knows; that version alone uses such a key. */
export function readPurposeKey(row: Row): WrappedKey | undefined {
  const purpose = purposes.find((known) => known === text(row, 1))
  if (purpose === undefined) return undefined
  return {
    id: text(row, 0),
    purpose,
    wrapped: text(row, 2),
    masterId: text(row, 3),
    createdAt: whole(row, 4),
    activeFrom: whole(row, 5),
    revokedAt: optionalWhole(row, 6),
  }
}

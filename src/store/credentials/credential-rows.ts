import assert from 'node:assert/strict'
import { purposes, type WrappedKey } from '../../vault/purpose-key.ts'
import type { Client, ClientMethod, ClientSecret, ClientWithSecrets } from '../credentials.ts'
import { type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'

/** The values of table `client`, in the order of the columns that an insert names. */
export function clientValues(client: Client) {
  const { method } = client
  return [
    client.id,
    client.customerId,
    client.name,
    client.scopes.join(' '),
    method.kind,
    method.kind === 'keys' ? method.jwks : null,
    method.kind === 'issuer' ? method.issuer : null,
    method.kind === 'issuer' ? method.externalId : null,
    client.createdAt,
    client.notBefore,
    client.boundTo,
  ] as const
}

/** The columns of table `client` that `readClient` reads. */
export const clientColumns = `client.id, client.customer_id, client.name, client.scopes,
  client.method, client.jwks, client.issuer, client.external_id, client.created_at,
  client.not_before, client.disabled_at, client.last_used_at, client.bound_to`

export function readClient(row: NamedRow): Client {
  const scopes = text(row, 'scopes')
  return {
    id: text(row, 'id'),
    customerId: optionalText(row, 'customer_id') ?? null,
    boundTo: optionalText(row, 'bound_to') ?? null,
    name: text(row, 'name'),
    scopes: scopes === '' ? [] : scopes.split(' '),
    method: readMethod(row),
    createdAt: whole(row, 'created_at'),
    notBefore: whole(row, 'not_before'),
    disabledAt: optionalWhole(row, 'disabled_at'),
    lastUsedAt: optionalWhole(row, 'last_used_at'),
  }
}

function readMethod(row: NamedRow): ClientMethod {
  const kind = text(row, 'method')
  if (kind === 'keys') return { kind, jwks: text(row, 'jwks') }
  if (kind === 'issuer') {
    return { kind, issuer: text(row, 'issuer'), externalId: text(row, 'external_id') }
  }
  assert(kind === 'secret', 'This version does not know the method of a stored client.')
  return { kind }
}

/** Columns of tables `client` and `secret`, joined, that `readClientsWithSecrets` reads. */
export const clientAndSecretColumns = `${clientColumns}, secret.id as secret_id,
  secret.hash, secret.created_at as secret_created_at, secret.last_used_at as secret_last_used_at,
  secret.expires_at as secret_expires_at`

/** Reads rows of one client and one secret each. A row without a client is skipped. */
export function readClientsWithSecrets(rows: readonly NamedRow[]): ClientWithSecrets[] {
  const clients = new Map<string, Client & { readonly secrets: ClientSecret[] }>()
  for (const row of rows) {
    const id = optionalText(row, 'id')
    if (id === undefined) continue
    const client = clients.get(id) ?? { ...readClient(row), secrets: [] }
    clients.set(id, client)
    if (row.secret_id === null) continue
    client.secrets.push({
      id: text(row, 'secret_id'),
      hash: text(row, 'hash'),
      createdAt: whole(row, 'secret_created_at'),
      expiresAt: optionalWhole(row, 'secret_expires_at'),
      lastUsedAt: optionalWhole(row, 'secret_last_used_at'),
    })
  }
  return [...clients.values()]
}

/** The columns of table `purpose_key` that `keyValues` writes and `readPurposeKeys` reads. */
export const keyColumns = 'id, purpose, wrapped, master_id, created_at, active_from, revoked_at'

/** The values of table `purpose_key`, in the order of `keyColumns`. */
export const keyValues = (key: WrappedKey) =>
  [
    key.id,
    key.purpose,
    key.wrapped,
    key.masterId,
    key.createdAt,
    key.activeFrom,
    key.revokedAt ?? null,
  ] as const

/** Skips a key with a purpose that only a later version knows; only that version uses the key. */
export const readPurposeKeys = (rows: readonly NamedRow[]): WrappedKey[] =>
  rows.flatMap((row) => {
    const purpose = purposes.find((known) => known === row.purpose)
    if (purpose === undefined) return []
    return {
      id: text(row, 'id'),
      purpose,
      wrapped: text(row, 'wrapped'),
      masterId: text(row, 'master_id'),
      createdAt: whole(row, 'created_at'),
      activeFrom: whole(row, 'active_from'),
      revokedAt: optionalWhole(row, 'revoked_at'),
    }
  })

export const readDeniedToken = (row: NamedRow) => ({
  jti: text(row, 'jti'),
  expiresAt: whole(row, 'expires_at'),
})

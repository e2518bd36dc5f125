import assert from 'node:assert/strict'
import type { SQLOutputValue } from 'node:sqlite'
import { purposes, type WrappedKey } from '../../vault/purpose-key.ts'
import type { Client, ClientMethod, ClientSecret } from '../credentials.ts'

/** A row as node:sqlite gives it with big integers switched on. */
export type Row = Readonly<Record<string, SQLOutputValue>>

export function readClient(row: Row): Client {
  const scopes = text(row, 'scopes')
  return {
    id: text(row, 'id'),
    customerId: optionalText(row, 'customer_id') ?? null,
    name: text(row, 'name'),
    scopes: scopes === '' ? [] : scopes.split(' '),
    method: readMethod(row),
    createdAt: instant(row, 'created_at'),
    notBefore: instant(row, 'not_before'),
    disabledAt: optionalInstant(row, 'disabled_at'),
    lastUsedAt: optionalInstant(row, 'last_used_at'),
  }
}

function readMethod(row: Row): ClientMethod {
  const kind = text(row, 'method')
  if (kind === 'keys') return { kind, jwks: text(row, 'jwks') }
  if (kind === 'issuer') {
    return { kind, issuer: text(row, 'issuer'), externalId: text(row, 'external_id') }
  }
  assert(kind === 'secret', `A client's method is ${kind}, which this version does not know.`)
  return { kind }
}

export function readSecret(row: Row): ClientSecret {
  return {
    id: text(row, 'id'),
    hash: text(row, 'hash'),
    createdAt: instant(row, 'created_at'),
    lastUsedAt: optionalInstant(row, 'last_used_at'),
  }
}

/** Undefined for a purpose that only a later version knows; that version alone uses such a key. */
export function readPurposeKey(row: Row): WrappedKey | undefined {
  const purpose = purposes.find((known) => known === row.purpose)
  if (purpose === undefined) return undefined
  return {
    id: text(row, 'id'),
    purpose,
    wrapped: text(row, 'wrapped'),
    masterId: text(row, 'master_id'),
    createdAt: instant(row, 'created_at'),
    activeFrom: instant(row, 'active_from'),
    revokedAt: optionalInstant(row, 'revoked_at'),
  }
}

export function text(row: Row, column: string): string {
  const value = row[column]
  assert(typeof value === 'string', `Column ${column} of the credentials database is no text.`)
  return value
}

export function instant(row: Row, column: string): bigint {
  const value = row[column]
  assert(typeof value === 'bigint', `Column ${column} of the credentials database is no integer.`)
  return value
}

const optionalText = (row: Row, column: string) =>
  row[column] === null ? undefined : text(row, column)

const optionalInstant = (row: Row, column: string) =>
  row[column] === null ? undefined : instant(row, column)

import type { WrappedKey } from '../../vault/purpose-key.ts'
import type { Client } from '../credentials.ts'

/** A client in the order of its table's columns: id, customer, name, scopes, method and what that needs, two instants. */
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
  ] as const
}

/** A wrapped key in the order of its table's columns. */
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

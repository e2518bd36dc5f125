import {
  type BodyPlace,
  type CustomerKey,
  digestOf,
  keyIdOf,
  openBody,
  sealBody,
} from '@bursar/base'
import { isSealedKind, type Resource } from '@bursar/contract'
import type { CustomerKeys } from './customer-keys.ts'
import type { StoredBody } from './opened-bodies.ts'

/**
 * The keys of a customer that may open a body: the one that it names, or each that may have made
 * the digest of a body in clear. While a key is renewed, that may be an older one.
 */
export function keysFor(
  resource: Resource,
  { body }: Pick<StoredBody, 'body'>,
  keys: CustomerKeys | undefined,
): readonly CustomerKey[] {
  if (keys === undefined) return []
  const current = keys.current === undefined ? [] : [keys.current]
  if (!isSealedKind(resource)) {
    return keys.byId.size < 2 ? current : [...new Set([...current, ...keys.byId.values()])]
  }
  const keyId = keyIdOf(body)
  // No key opens a text that was put in the place of a sealed body.
  if (keyId === undefined) return current
  const key = keys.byId.get(keyId)
  return key === undefined ? [] : [key]
}

/** The body, if it belongs where it is and is as it was stored under one of these keys. */
export function openWithAny(
  keys: readonly CustomerKey[],
  resource: Resource,
  stored: StoredBody,
): string | undefined {
  for (const key of keys) {
    const body = openWith(key, resource, stored)
    if (body !== undefined) return body
  }
  return undefined
}

/** The same under one key. */
export function openWith(
  key: CustomerKey,
  resource: Resource,
  { customerId, id, body, checksum }: StoredBody,
): string | undefined {
  const { kind } = resource
  if (isSealedKind(resource)) return openBody(key, { customerId, kind, id, digest: checksum }, body)
  return digestOf(key, kind, id, body) === checksum ? body : undefined
}

/** The body of a kind that takes a key, as it is to be stored. */
export const inForm = (
  key: CustomerKey,
  resource: Resource,
  place: Omit<BodyPlace, 'kind'>,
  body: string,
): string =>
  isSealedKind(resource) ? sealBody(key, { ...place, kind: resource.kind }, body) : body

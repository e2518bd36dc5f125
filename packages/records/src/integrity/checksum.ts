import { crc32 } from 'node:zlib'
import { isKeyedKind, isSealedKind, type Resource } from '@bursar/contract'

/** Whether bodies in clear have a keyed checksum: those of records to which customers pay. */
export const isKeyedInClear = (resource: Resource): boolean =>
  isKeyedKind(resource) && !isSealedKind(resource)

/**
 * The checksum that is stored beside a body. It includes the customer, because some bodies do not
 * name theirs: a row whose customer has changed must not pass.
 */
export const bodyChecksum = (customerId: string, body: string | Uint8Array): number =>
  // Both give the same checksum. For text, joining costs less than a second call.
  typeof body === 'string' ? crc32(customerId + body) : crc32(body, crc32(customerId))

/** The same for several bodies of one customer, in bytes. */
export function bodyChecksums(customerId: string): (body: Uint8Array) => number {
  const ofCustomer = crc32(customerId)
  return (body) => crc32(body, ofCustomer)
}

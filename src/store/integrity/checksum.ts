import { crc32 } from 'node:zlib'

/**
 * The checksum that is stored beside a body. It includes the customer, because some bodies do not
 * name theirs: a row whose customer has changed must not pass.
 */
export const bodyChecksum = (customerId: string, body: string | Uint8Array): number =>
  crc32(body, crc32(customerId))

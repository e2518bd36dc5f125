import { createHmac } from 'node:crypto'

/**
 * A digest of 96 bits by which a name is found that no index may have in clear. It is the same for
 * every customer.
 */
export const digestName = (key: Uint8Array, name: string): string =>
  createHmac('sha256', key).update(name).digest().subarray(0, BYTES).toString('base64')

const BYTES = 12

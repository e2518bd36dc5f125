import { randomBytes } from 'node:crypto'

/** Returns `size` unpredictable bytes. Injected, so that a test can choose them. */
export type Random = (size: number) => Buffer

export const systemRandom: Random = (size) => randomBytes(size)

const POOL_BYTES = 4096

/** The same for nonces, some hundred of which share a call: one call takes longer than to seal. */
export function openRandomPool(): Random {
  let pool = Buffer.alloc(0)
  return (size) => {
    if (pool.length < size) pool = randomBytes(Math.max(POOL_BYTES, size))
    const taken = pool.subarray(0, size)
    pool = pool.subarray(size)
    return taken
  }
}

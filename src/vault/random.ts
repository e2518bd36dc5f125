import { randomBytes } from 'node:crypto'

/** Returns `size` unpredictable bytes. Injected, so that a test can choose them. */
export type Random = (size: number) => Buffer

export const systemRandom: Random = (size) => randomBytes(size)

import { randomBytes } from 'node:crypto'

/** So many unpredictable bytes. Injected, so that a test can say which. */
export type Random = (size: number) => Buffer

export const systemRandom: Random = (size) => randomBytes(size)

import { limitsOf } from '@bursar/base'

/** Limits that several files share, here or in other packages. */
export const sqliteLimits = limitsOf({
  /** How long a write of a server waits for a lock, and the longest pause between attempts. */
  storeWriteMs: 5000,
  storeRetryMsMax: 50,
  /** How much of the write-ahead log stays on disk. */
  storeLogBytesMax: 64 * 1024 * 1024,
})

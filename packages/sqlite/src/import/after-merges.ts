import { systemTime } from '@bursar/base'
import { NothingChanged, recordsLimits, type Transact, type WaitingTransact } from '@bursar/records'
import { isBusy } from '../database.ts'
import { retryWhileLocked } from '../locks.ts'

/**
 * Runs work, and again while another process writes the store, for as long as a merge may take. The
 * signal ends the wait with its reason.
 */
export function afterMerges<T>(
  path: string,
  signal: AbortSignal | undefined,
  work: () => T | Promise<T>,
): Promise<T> {
  const { storeLockWaitMs } = recordsLimits
  const locked = `another process, such as an import, has written ${path} for ${storeLockWaitMs / 1000} s; nothing was changed; wait until it has ended, then run this again`
  return retryWhileLocked(
    () => {
      signal?.throwIfAborted()
      return work()
    },
    systemTime.elapsedMs() + storeLockWaitMs,
    locked,
  )
}

/**
 * Transactions for rows of imports. Each attempt asks for the lock once, so that single records,
 * which share the connection, are not kept behind it.
 */
export const transactAfterMerges =
  (path: string, transact: Transact): WaitingTransact =>
  (work, signal) =>
    afterMerges(path, signal, () =>
      transact(work, systemTime.elapsedMs()).catch((error: unknown) => {
        throw error instanceof NothingChanged && isBusy(error.cause) ? error.cause : error
      }),
    )

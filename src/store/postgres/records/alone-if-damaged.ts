import type { PendingRequest } from '../../batch-queue.ts'
import { StoreDamaged } from '../../unavailable.ts'

/**
 * Runs a batch. PostgreSQL does not tell which row of a statement it could not read, so a damaged
 * batch runs again, each request alone: only requests for damaged records may fail. One after the
 * other, because they must not take the sessions of everybody else.
 */
export async function aloneIfDamaged<Request, Result>(
  batch: readonly PendingRequest<Request, Result>[],
  run: (batch: readonly PendingRequest<Request, Result>[]) => Promise<void>,
): Promise<void> {
  try {
    await run(batch)
  } catch (error) {
    if (!(error instanceof StoreDamaged) || batch.length === 1) throw error
    for (const one of batch) await run([one]).catch(one.result.reject)
  }
}

import { limits } from '../../../platform/limits.ts'
import type { PutOutcome, PutRequest } from '../../records/put.ts'
import { openBatchQueue, type PendingRequest } from '../batch-queue.ts'
import type { PutOutcomes } from './put-batch.ts'

type Waiting = readonly PendingRequest<PutRequest, PutOutcome>[]

/** Stores a batch in one transaction, by a deadline of `performance.now()`. */
type RunBatch = (batch: readonly PutRequest[], deadline: number) => Promise<PutOutcomes>

/**
 * Groups the records of one kind that wait together, with different ids in each batch. A request
 * that its batch has left without an outcome runs again in the next one.
 */
export function openPutQueue(
  runBatch: RunBatch,
  waitMs: number,
): (request: PutRequest) => Promise<PutOutcome> {
  const run = async (batch: Waiting, oldestRequestedAt: number) => {
    const deadline = oldestRequestedAt + limits.recordPutMs
    let waiting = batch
    while (waiting.length > 0) {
      const [first, later] = distinctIds(waiting)
      const requests = first.map(({ request }) => request)
      const outcomes = await runBatch(requests, deadline)
      const again = first.filter(({ result }, place) => {
        const outcome = outcomes[place]
        if (outcome !== undefined) result.resolve(outcome)
        return outcome === undefined
      })
      waiting = [...again, ...later]
    }
  }
  return openBatchQueue<PutRequest, PutOutcome>({
    name: 'records',
    run,
    weightMax: limits.recordsPerCommitMax,
    runningMax: 1,
    startsFullBatches: false,
    waitingMax: limits.recordsWaitingMax,
    waitMs,
  })
}

/** The first request of each id, and the others, which must find the first one stored. */
function distinctIds(waiting: Waiting): readonly [first: Waiting, later: Waiting] {
  const ids = new Set<string>()
  const { first = [], later = [] } = Object.groupBy(waiting, ({ request }) => {
    const isFirst = !ids.has(request.record.id)
    ids.add(request.record.id)
    return isFirst ? 'first' : 'later'
  })
  return [first, later]
}

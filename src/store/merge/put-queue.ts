import type { Resource } from '../../contract/resource.ts'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import { openBatchQueue, type PendingRequest } from '../batch-queue.ts'
import type { Dialect } from '../dialect.ts'
import type { PutOutcome, PutRequest } from '../records/put.ts'
import type { OperatorRecords } from '../records.ts'
import type { Session } from '../session.ts'
import { type PutOutcomes, putBatch, putStatements } from './put-batch.ts'

type Waiting = readonly PendingRequest<PutRequest, PutOutcome>[]

/** What an adapter gives to store single records. */
export type PutTransactions = {
  readonly dialect: Dialect
  /** How long a request may wait for its batch. */
  readonly waitMs: number
  /**
   * Runs work in a transaction that keeps other writers of the kind out and has empty staging
   * tables. Rejects if it cannot begin by a deadline of `performance.now()`.
   */
  transact<T>(
    resource: Resource,
    work: (session: Session) => Promise<T>,
    deadline: number,
  ): Promise<T>
}

/** Stores single records. Those of a kind that wait together share a transaction and its waits. */
export function openPutRecords(
  { dialect, waitMs, transact }: PutTransactions,
  clock: Clock,
): OperatorRecords['put'] {
  const opened = new Map<string, (request: PutRequest) => Promise<PutOutcome>>()
  const openKind = (resource: Resource) => {
    const statements = putStatements(resource, dialect)
    const runBatch: RunBatch = (batch, deadline) =>
      transact(resource, (session) => putBatch(session, statements, batch, clock()), deadline)
    return openPutQueue(runBatch, waitMs)
  }
  return (resource, request) => {
    const put = opened.get(resource.kind) ?? openKind(resource)
    opened.set(resource.kind, put)
    return put(request)
  }
}

/** Stores a batch in one transaction, by a deadline of `performance.now()`. */
type RunBatch = (batch: readonly PutRequest[], deadline: number) => Promise<PutOutcomes>

/**
 * Groups the records of one kind that wait together, with different ids in each batch. A request
 * that its batch has left without an outcome runs again in the next one.
 */
function openPutQueue(
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

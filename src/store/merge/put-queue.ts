import type { Resource } from '../../contract/resource.ts'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import { openBatchQueue } from '../batch-queue.ts'
import type { Dialect } from '../dialect.ts'
import type { PutOutcome, PutRequest } from '../records/put.ts'
import type { OperatorRecords } from '../records.ts'
import type { Session } from '../session.ts'
import { type PutOutcomes, putBatch, putStatements } from './put-batch.ts'

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
  return openBatchQueue<PutRequest, PutOutcome>({
    name: 'records',
    run: async (batch, oldestRequestedAt, again) => {
      const requests = batch.map(({ request }) => request)
      const outcomes = await runBatch(requests, oldestRequestedAt + limits.recordPutMs)
      for (const [place, one] of batch.entries()) {
        const outcome = outcomes[place]
        if (outcome === undefined) again(one)
        else one.result.resolve(outcome)
      }
    },
    weightOf,
    weightMax: limits.recordsPerCommitMax,
    turns: {
      keysOf: ({ from, record }) => [`client ${from.clientId}`, `customer ${record.customerId}`],
      nameOf: ({ record }) => record.id,
      weightPerKeyMax: limits.recordsPerTurnMax,
      rememberedMs: limits.recordTurnsRememberedMs,
    },
    runningMax: 1,
    startsFullBatches: false,
    waitingMax: limits.recordsWaitingMax,
    waitMs,
  })
}

/** A large record takes the time of several. */
const weightOf = ({ record }: PutRequest): number =>
  'withdraws' in record ? 1 : 1 + Math.floor(record.full.length / limits.recordWeightLength)

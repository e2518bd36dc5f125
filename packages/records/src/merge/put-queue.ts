import { type Clock, limitsOf, type Metrics } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import { openBatchQueue } from '../batch-queue.ts'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import type { PutOutcome, SealedPut } from '../records/put.ts'
import type { CustomerNumbers } from '../sealing/customer-numbers.ts'
import type { Session } from '../session.ts'
import {
  type LockedCustomers,
  openLockedCustomers,
  orLater,
  type PutOptions,
  type RunBatch,
} from './locked-customers.ts'
import { type PutLocks, type PutOutcomes, putBatch, putStatements } from './put-batch.ts'

const limits = limitsOf({
  /** Records that clients put one by one: so many share a commit, which takes about 10 ms. */
  recordsPerCommitMax: 200,
  /** For so long a client or customer that has sent a record has turns of its own. */
  recordTurnsRememberedMs: 60_000,
  /**
   * A batch begins beside others if the last one has run for so long: one commit that waits for the
   * disk holds up no others, and those that are quick stay large.
   */
  putsBesideMs: 20,
  /** Characters of a record that take as long to store as a small record. */
  recordWeightLength: 8192,
  /** Records that may wait for the current commit. */
  recordsWaitingMax: 2000,
})

/** What an adapter gives to store single records. */
export type PutTransactions = {
  readonly dialect: Dialect
  /** How long a request may wait for its batch. */
  readonly waitMs: number
  /** The weight of a client or customer in a batch, while another one sends records too. */
  readonly weightPerKeyMax: number
  /** How many batches may run at a time, of all kinds. A kind may always have one. */
  readonly runningMax: number
  /** Learns whose records a batch has changed; undefined where it may be others too. */
  readonly committed?: (customerIds: readonly string[] | undefined) => void
  /** Runs work in a transaction that has empty staging tables. */
  transact<T>(resource: Resource, work: PutWork<T>, options: PutOptions): Promise<T>
}

type PutWork<T> = (parts: { readonly session: Session; readonly locks: PutLocks }) => Promise<T>

/** Stores single records. Those of a kind that wait together share a transaction and its waits. */
export function openPutRecords(
  { dialect, transact, committed, ...bounds }: PutTransactions,
  clock: Clock,
  metrics: Metrics | undefined,
  numbers: CustomerNumbers,
): (resource: Resource, request: SealedPut) => Promise<PutOutcome> {
  const opened = new Map<string, (request: SealedPut) => Promise<PutOutcome>>()
  const locked = openLockedCustomers()
  let running = 0
  const openKind = (resource: Resource) => {
    const statements = putStatements(resource, dialect)
    const runBatch: RunBatch = async (batch, options) => {
      const work: PutWork<PutOutcomes> = (parts) =>
        putBatch(parts, statements, batch, { now: clock(), numbers })
      const outcomes = await transact(resource, work, options)
      committed?.(changedCustomers(batch, outcomes))
      return outcomes
    }
    const runCounted: RunBatch = async (batch, options) => {
      running += 1
      try {
        return await runBatch(batch, options)
      } finally {
        running -= 1
      }
    }
    const isFree = () => running < bounds.runningMax
    return openPutQueue(runCounted, { ...bounds, isFree, metrics }, locked(runBatch))
  }
  return (resource, request) => {
    const put = opened.get(resource.kind) ?? openKind(resource)
    opened.set(resource.kind, put)
    return put(request)
  }
}

/** The customers whose records have changed; undefined where others may have lost a value. */
function changedCustomers(
  batch: readonly SealedPut[],
  outcomes: PutOutcomes,
): readonly string[] | undefined {
  const changed = batch.filter((_request, at) => {
    const outcome = outcomes[at]
    if (outcome === undefined || outcome === 'later') return false
    return outcome.outcome === 'added' || outcome.outcome === 'changed'
  })
  if (changed.some(({ takeOver }) => takeOver === true)) return undefined
  return changed.map(({ record }) => record.customerId)
}

type QueueBounds = Pick<PutTransactions, 'waitMs' | 'weightPerKeyMax' | 'runningMax'> & {
  readonly metrics: Metrics | undefined
  /** Whether one more batch may run, of all kinds. */
  readonly isFree: () => boolean
}

/**
 * Groups the records of one kind that wait together, with different ids in each batch. A request
 * that its batch has left without an outcome runs again in the next one. Those of a customer that
 * another writer has locked leave the queue, so that the others do not wait for them.
 *
 * Batches that run at the same time have different ids and customers, so that none waits for the
 * locks of another, and the requests of a customer keep their order.
 */
function openPutQueue(
  runBatch: RunBatch,
  { waitMs, weightPerKeyMax, runningMax, isFree, metrics }: QueueBounds,
  locked: LockedCustomers,
): (request: SealedPut) => Promise<PutOutcome> {
  const put = openBatchQueue<SealedPut, PutOutcome>({
    name: 'records',
    metrics,
    run: async (batch, oldestRequestedAt, again) => {
      const requests = batch.map(({ request }) => request)
      const deadline = oldestRequestedAt + recordsLimits.recordPutMs
      const outcomes = await orLater(runBatch(requests, { deadline, waits: false }))
      for (const [place, one] of batch.entries()) {
        const outcome = outcomes === 'later' ? outcomes : outcomes[place]
        if (outcome === undefined) again(one)
        else if (outcome === 'later') locked.add(one)
        else one.result.resolve(outcome)
      }
    },
    weightOf,
    weightMax: limits.recordsPerCommitMax,
    turns: {
      keysOf: ({ from, record }) => [`client ${from.clientId}`, `customer ${record.customerId}`],
      nameOf: ({ record }) => record.id,
      apartOf: ({ record }) => [record.customerId],
      weightPerKeyMax,
      rememberedMs: limits.recordTurnsRememberedMs,
    },
    runningMax,
    beside: { afterMs: limits.putsBesideMs, isFree },
    startsFullBatches: false,
    waitingMax: limits.recordsWaitingMax,
    waitMs,
  })
  return (request) => locked.join(request) ?? put(request)
}

/** A large record takes the time of several. */
const weightOf = ({ record }: SealedPut): number =>
  'withdraws' in record ? 1 : 1 + Math.floor(record.stored.length / limits.recordWeightLength)

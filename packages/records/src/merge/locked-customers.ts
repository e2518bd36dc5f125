import { type FairQueue, limitsOf, openFairQueue, systemTime } from '@bursar/base'
import type { PendingRequest } from '../batch-queue.ts'
import { recordsLimits } from '../limits.ts'
import type { PutOutcome, SealedPut } from '../records/put.ts'
import { CustomersLocked } from '../unavailable.ts'
import type { PutOutcomes } from './put-batch.ts'

const limits = limitsOf({
  /**
   * For how many customers records wait so: with those that wait in a batch, half of the sessions
   * of a pool.
   */
  lockedCustomersAwaitedMax: 4,
  /** Records that wait for locked customers, as many as wait for a commit. */
  lockedRecordsMax: 2000,
  /** Pause before a record whose value or customer another merge holds is tried again. */
  lockedRetryMs: 20,
})

/** Stores a batch in one transaction. */
export type RunBatch = (batch: readonly SealedPut[], options: PutOptions) => Promise<PutOutcomes>

export type PutOptions = {
  /** By `Time.elapsedMs`. The transaction is rejected if it cannot begin by then. */
  readonly deadline: number
  /** Whether it waits for the locks of others, or leaves what is locked for later. */
  readonly waits: boolean
}

/** The outcomes of a batch, or `later` if it gave up because of another writer. */
export const orLater = (outcomes: Promise<PutOutcomes>): Promise<PutOutcomes | 'later'> =>
  outcomes.catch((error: unknown) => {
    if (error instanceof CustomersLocked) return 'later'
    throw error
  })

/** The requests of one kind whose customers other writers have locked. */
export type LockedCustomers = {
  /** Takes a request over, and settles it. */
  add(one: Pending): void
  /** Takes a new request if others of its customer wait here. Undefined if none does. */
  join(request: SealedPut): Promise<PutOutcome> | undefined
}

type Pending = PendingRequest<SealedPut, PutOutcome>

/**
 * Holds requests until their customers are free. Those of a customer have batches of their own,
 * each of which waits for the lock of the customer for a while. Customers take turns, of all kinds:
 * a few are awaited at a time, because each of these takes a session.
 */
export function openLockedCustomers(): (run: RunBatch) => LockedCustomers {
  const turns = openFairQueue({
    totalMax: limits.lockedCustomersAwaitedMax,
    perKeyMax: 1,
    waitingMax: limits.lockedRecordsMax,
    waitingPerKeyMax: limits.lockedRecordsMax,
    waitMs: recordsLimits.putCustomerMs,
    refusal: () => new CustomersLocked(),
  })
  let waiting = 0
  return (run) => {
    const lanes = new Map<string, Pending[]>()
    const serve = async (customerId: string, lane: Pending[]) => {
      while (lane.length > 0) {
        rejectLate(lane)
        const isBlocked = await inTurn(turns, customerId, () => runFirst(lane, run))
        if (isBlocked) await systemTime.pause(limits.lockedRetryMs)
      }
      lanes.delete(customerId)
    }
    const add = (one: Pending) => {
      if (waiting >= limits.lockedRecordsMax) return one.result.reject(new CustomersLocked())
      waiting += 1
      const leave = () => {
        waiting -= 1
      }
      one.result.promise.then(leave, leave)
      const { customerId } = one.request.record
      const lane = lanes.get(customerId)
      if (lane !== undefined) return void lane.push(one)
      const opened = [one]
      lanes.set(customerId, opened)
      void serve(customerId, opened)
    }
    return {
      add,
      join: (request) => {
        if (!lanes.has(request.record.customerId)) return undefined
        const result = Promise.withResolvers<PutOutcome>()
        add({ request, requestedAt: systemTime.elapsedMs(), result })
        return result.promise
      },
    }
  }
}

/** Runs work when it is the turn of the key. Returns true if the turn has not come for a while. */
async function inTurn(turns: FairQueue, key: string, work: () => Promise<boolean>) {
  try {
    if (!turns.tryTake(key, 1)) await turns.wait(key, 1).admitted
  } catch {
    return true
  }
  try {
    return await work()
  } finally {
    turns.add(key, -1)
  }
}

function rejectLate(lane: Pending[]): void {
  const bound = systemTime.elapsedMs() - (recordsLimits.recordPutMs - 2 * recordsLimits.lockedPutMs)
  for (const late of takeWhere(lane, ({ requestedAt }) => requestedAt < bound)) {
    late.result.reject(new CustomersLocked())
  }
}

/** Runs the first requests of a customer, with different ids. Returns true if none was run. */
async function runFirst(lane: Pending[], run: RunBatch): Promise<boolean> {
  const ids = new Set<string>()
  const batch = takeWhere(lane, ({ request: { record } }) => {
    if (ids.has(record.id) || ids.size >= recordsLimits.recordsPerTurnMax) return false
    ids.add(record.id)
    return true
  })
  if (batch.length === 0) return false
  const deadline =
    Math.min(...batch.map(({ requestedAt }) => requestedAt)) + recordsLimits.recordPutMs
  try {
    const requests = batch.map(({ request }) => request)
    const outcomes = await orLater(run(requests, { deadline, waits: true }))
    const left = batch.filter(({ result }, place) => {
      const outcome = outcomes === 'later' ? outcomes : outcomes[place]
      if (outcome === undefined || outcome === 'later') return true
      result.resolve(outcome)
      return false
    })
    lane.unshift(...left)
    return left.length === batch.length
  } catch (error) {
    for (const { result } of batch) result.reject(error)
    return false
  }
}

/** Takes the requests for which a test holds out of a lane, and returns them. */
function takeWhere(lane: Pending[], isTaken: (one: Pending) => boolean): readonly Pending[] {
  const { taken = [], left = [] } = Object.groupBy(lane, (one) => (isTaken(one) ? 'taken' : 'left'))
  lane.splice(0, lane.length, ...left)
  return taken
}

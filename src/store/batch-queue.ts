import { StoreUnavailable } from './unavailable.ts'

/** A request that waits for its batch, and the promise that the batch resolves. */
export type PendingRequest<Request, Result> = {
  readonly request: Request
  /** By `performance.now()`. */
  readonly requestedAt: number
  readonly result: PromiseWithResolvers<Result>
}

export type BatchQueueOptions<Request, Result> = {
  /** What waits, in the plural, for the error messages. */
  readonly name: string
  /** Resolves the promise of each request. If it rejects, the promises still pending reject. */
  readonly run: (
    batch: readonly PendingRequest<Request, Result>[],
    oldestRequestedAt: number,
  ) => Promise<void>
  /** The weight of a request, else 1, and of a batch at most. A heavier request gets its own. */
  readonly weightOf?: (request: Request) => number
  readonly weightMax: number
  /** Once so many batches are running, requests wait for one of them to end. */
  readonly runningMax: number
  /** Starts a full batch at once, even if `runningMax` batches are running. */
  readonly startsFullBatches: boolean
  /** Backpressure: a request is rejected if so many wait, or after it has waited so long. */
  readonly waitingMax: number
  readonly waitMs: number
}

/**
 * Groups the requests of one turn of the event loop, because a statement or a commit costs about
 * the same for many. A request that cannot be accepted rejects with a StoreUnavailable.
 */
export function openBatchQueue<Request, Result>(
  options: BatchQueueOptions<Request, Result>,
): (request: Request) => Promise<Result> {
  const { name, run, weightOf = () => 1, weightMax, runningMax, startsFullBatches } = options
  const waiting: PendingRequest<Request, Result>[] = []
  let weight = 0
  let running = 0
  let isScheduled = false
  const takeFirst = () => {
    const first = waiting.shift()
    if (first !== undefined) weight -= weightOf(first.request)
    return first
  }
  const takeBatch = () => {
    const batch: PendingRequest<Request, Result>[] = []
    let taken = 0
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      // A batch has no more time than its oldest request, so one that is late must not join it.
      if (performance.now() - next.requestedAt > options.waitMs) {
        takeFirst()?.result.reject(new StoreUnavailable(`${name} waited too long for the database`))
        continue
      }
      taken += weightOf(next.request)
      if (batch.length > 0 && taken > weightMax) break
      takeFirst()
      batch.push(next)
    }
    return batch
  }
  const start = () => {
    const batch = takeBatch()
    const [oldest] = batch
    if (oldest === undefined) return
    running += 1
    run(batch, oldest.requestedAt)
      .catch((error) => {
        for (const { result } of batch) result.reject(error)
      })
      .finally(() => {
        running -= 1
        schedule()
      })
  }
  const schedule = () => {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      const isFull = () => startsFullBatches && weight >= weightMax
      while (waiting.length > 0 && (running < runningMax || isFull())) start()
    })
  }
  return (request) => {
    if (waiting.length >= options.waitingMax) {
      return Promise.reject(new StoreUnavailable(`too many ${name} wait for the database`))
    }
    const result = Promise.withResolvers<Result>()
    waiting.push({ request, requestedAt: performance.now(), result })
    weight += weightOf(request)
    schedule()
    return result.promise
  }
}

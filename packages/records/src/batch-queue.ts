import {
  type BatchName,
  currentSpan,
  type Metrics,
  noMetrics,
  type Span,
  systemTime,
} from '@bursar/base'
import { openTurns, type Turn, type TurnOptions } from './batch-turns.ts'
import { inBatchSpan } from './traced-work.ts'
import { NothingChanged } from './unavailable.ts'

/** A request that waits for its batch, and the promise that the batch resolves. */
export type PendingRequest<Request, Result> = {
  readonly request: Request
  /** By `Time.elapsedMs`. */
  readonly requestedAt: number
  readonly result: PromiseWithResolvers<Result>
  /** The step that waits for it, if its trace is recorded. */
  readonly span?: Span | undefined
}

export type BatchQueueOptions<Request, Result> = {
  /** What waits, in the plural, for the error messages and the metrics. */
  readonly name: BatchName
  readonly metrics?: Metrics | undefined
  /**
   * Resolves the promise of each request, or passes it to `again`, and then it waits for another
   * batch. If it rejects, the promises still pending reject.
   */
  readonly run: (
    batch: readonly PendingRequest<Request, Result>[],
    oldestRequestedAt: number,
    again: (one: PendingRequest<Request, Result>) => void,
  ) => Promise<void>
  /** The weight of a request, else 1, and of a batch at most. A heavier request gets its own. */
  readonly weightOf?: (request: Request) => number
  readonly weightMax: number
  /** How keys share the batches. Without it, requests run in the order of their arrival. */
  readonly turns?: TurnOptions<Request>
  /** Once so many batches are running, requests wait for one of them to end. */
  readonly runningMax: number
  /** When a batch begins beside others, so that it is not too small. At once without it. */
  readonly beside?: {
    /** How long after the last one. A request of whose keys nothing runs does not wait for that. */
    readonly afterMs: number
    /** Whether there is room for it, besides `runningMax`. */
    readonly isFree: () => boolean
  }
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
  const {
    name,
    run,
    weightMax,
    runningMax,
    beside,
    startsFullBatches,
    metrics = noMetrics,
  } = options
  const labels = { batch: name }
  const line = openLine(options)
  let running = 0
  let lastBegunAt = 0
  let isScheduled = false
  let isAwaited = false
  /** Returns false if no request may run now. */
  const start = (): boolean => {
    const { batch, end } = line.takeBatch()
    if (batch.length === 0) return false
    const oldest = batch.reduce((one, other) => (other.requestedAt < one.requestedAt ? other : one))
    running += 1
    const begunAt = systemTime.elapsedMs()
    lastBegunAt = begunAt
    metrics.observe('bursar_batch_size', labels, batch.length)
    inBatchSpan(name, batch, () => run(batch, oldest.requestedAt, line.join))
      .catch((error) => {
        for (const { result } of batch) result.reject(error)
      })
      .finally(() => {
        running -= 1
        end()
        const seconds = (systemTime.elapsedMs() - begunAt) / 1000
        metrics.observe('bursar_batch_duration_seconds', labels, seconds)
        schedule()
      })
    return true
  }
  /** How long the next batch must wait for others. Undefined until one of these has ended. */
  const waitMs = (): number | undefined => {
    if (running === 0 || (startsFullBatches && line.weight() >= weightMax)) return 0
    if (running >= runningMax) return undefined
    if (beside === undefined) return 0
    const leftMs = lastBegunAt + beside.afterMs - systemTime.elapsedMs()
    if (leftMs > 0 && !line.hasAlone()) return leftMs
    return beside.isFree() ? 0 : beside.afterMs
  }
  const startAll = () => {
    while (!line.isEmpty()) {
      const nextMs = waitMs()
      if (nextMs === undefined) return
      if (nextMs > 0) return void startAfter(nextMs)
      if (!start()) return
    }
  }
  const startAfter = (ms: number) => {
    if (isAwaited) return
    isAwaited = true
    systemTime.after(ms, () => {
      isAwaited = false
      startAll()
    })
  }
  const schedule = () => {
    if (isScheduled || line.isEmpty()) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      startAll()
    })
  }
  return (request) => {
    const refusal = line.refusalOf(request)
    if (refusal !== undefined) return Promise.reject(refusal)
    const result = Promise.withResolvers<Result>()
    line.join({ request, requestedAt: systemTime.elapsedMs(), result, span: currentSpan() })
    schedule()
    return result.promise
  }
}

/** The requests that wait, in the order of their arrival. */
function openLine<Request, Result>(options: BatchQueueOptions<Request, Result>) {
  const { name, weightOf = () => 1, weightMax, waitingMax, waitMs } = options
  type Pending = PendingRequest<Request, Result>
  type Waiting = { readonly one: Pending; readonly weight: number; readonly turn: Turn | undefined }
  const turns = options.turns && openTurns(options.turns, weightMax)
  let waiting: Waiting[] = []
  let weight = 0
  const leave = (left: Waiting) => {
    weight -= left.weight
    if (left.turn !== undefined) turns?.leave(left.turn)
  }
  // A batch has no more time than its oldest request, so one that is late must not join it.
  const rejectLate = (now: number) => {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const { requestedAt, result } = next.one
      if (now - requestedAt <= waitMs) return
      waiting.shift()
      leave(next)
      result.reject(refused(`${name} waited too long for the database`, waitMs))
    }
  }
  const takeFirst = (): readonly Waiting[] => {
    const batch: Waiting[] = []
    let taken = 0
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      taken += next.weight
      if (batch.length > 0 && taken > weightMax) break
      waiting.shift()
      batch.push(next)
    }
    return batch
  }
  const takeAll = (chosen: ReadonlySet<Waiting>): readonly Waiting[] => {
    if (chosen.size > 0) waiting = waiting.filter((one) => !chosen.has(one))
    return [...chosen]
  }
  return {
    isEmpty: () => waiting.length === 0,
    weight: () => weight,
    /** Whether a request waits of whose keys nothing runs. */
    hasAlone: () => waiting.some(({ turn }) => turn !== undefined && turns?.isAlone(turn)),
    refusalOf: (request: Request): NothingChanged | undefined => {
      const free = waitingMax - waiting.length
      if (free > 0 && turns?.fits(request, free) !== false) return undefined
      const [oldest] = waiting
      // The oldest one has waited for about as long as the next one would.
      const waitedMs = oldest === undefined ? 0 : systemTime.elapsedMs() - oldest.one.requestedAt
      return refused(`too many ${name} wait for the database`, waitedMs)
    },
    join: (one: Pending): void => {
      const { request, requestedAt } = one
      const place = waiting.findLastIndex((other) => other.one.requestedAt <= requestedAt) + 1
      const ownWeight = weightOf(request)
      const turn = turns?.join(request, ownWeight, requestedAt)
      const joined = { one, weight: ownWeight, turn }
      waiting.splice(place, 0, joined)
      weight += joined.weight
    },
    /** The next batch, and what must be called once it has ended. */
    takeBatch: () => {
      const now = systemTime.elapsedMs()
      rejectLate(now)
      const taken = turns === undefined ? takeFirst() : takeAll(turns.choose(waiting, now))
      taken.forEach(leave)
      const end = () => {
        for (const { turn } of taken) if (turn !== undefined) turns?.end(turn)
      }
      return { batch: taken.map(({ one }): Pending => one), end }
    },
  }
}

const refused = (reason: string, retryAfterMs: number) =>
  new NothingChanged(reason, { retryAfterMs })

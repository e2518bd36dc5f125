import { limits } from '../../../platform/limits.ts'
import { unavailable } from '../driver/failure.ts'

/** One that was asked for, and its answer, which whoever runs the batch settles. */
export type Gathered<A, R> = {
  readonly asked: A
  /** By `performance.now()`. */
  readonly askedAt: number
  readonly answer: PromiseWithResolvers<R>
}

export type GatherOptions<A, R> = {
  /** Settles each of a batch, the first of which was asked for then; where it rejects, so do those that are not settled. */
  readonly run: (batch: readonly Gathered<A, R>[], askedAt: number) => Promise<void>
  /** How many rows one may answer, and how many those of a batch may together; one alone may be heavier. */
  readonly rowsOf: (asked: A) => number
  readonly rowsMax: number
  /** So many statements are under way before anything waits. */
  readonly statementsMax: number
  readonly waitingMax: number
}

/**
 * Look-ups of one kind, several in one statement, for a statement costs as much as ten records (bench/postgres.ts). What
 * is asked for in one turn of the event loop goes together. One alone goes at once and waits for nobody, and so does
 * whatever comes while few are under way; the rest gathers until one of those is done, or until it is a full batch.
 */
export function openGather<A, R>(options: GatherOptions<A, R>): (asked: A) => Promise<R> {
  const { run, rowsOf, rowsMax, statementsMax, waitingMax } = options
  const gathered: Gathered<A, R>[] = []
  let rows = 0
  let underWay = 0
  let isPlanned = false
  const takeFirst = () => {
    const first = gathered.shift()
    if (first !== undefined) rows -= rowsOf(first.asked)
    return first
  }
  const takeBatch = () => {
    const batch: Gathered<A, R>[] = []
    let taken = 0
    for (let [next] = gathered; next !== undefined; [next] = gathered) {
      // What is left of its time is that of the whole batch, and would not do for those that have just come.
      if (performance.now() - next.askedAt > limits.databaseWaitMs) {
        takeFirst()?.answer.reject(unavailable('a read waited too long for the database'))
        continue
      }
      taken += rowsOf(next.asked)
      if (batch.length > 0 && taken > rowsMax) break
      takeFirst()
      batch.push(next)
    }
    return batch
  }
  const send = () => {
    const batch = takeBatch()
    const [first] = batch
    if (first === undefined) return
    underWay += 1
    run(batch, first.askedAt)
      .catch((error) => {
        for (const { answer } of batch) answer.reject(error)
      })
      .finally(() => {
        underWay -= 1
        plan()
      })
  }
  const plan = () => {
    if (isPlanned || gathered.length === 0) return
    isPlanned = true
    setImmediate(() => {
      isPlanned = false
      while (gathered.length > 0 && (underWay < statementsMax || rows >= rowsMax)) send()
    })
  }
  return (asked) => {
    if (gathered.length >= waitingMax) {
      return Promise.reject(unavailable('too many reads wait for the database'))
    }
    const answer = Promise.withResolvers<R>()
    gathered.push({ asked, askedAt: performance.now(), answer })
    rows += rowsOf(asked)
    plan()
    return answer.promise
  }
}

import type { ServerResponse } from 'node:http'
import { problem } from '../../../contract/problem.ts'
import type { Answer, ReserveAnswer, Trace } from '../../../contract/request.ts'
import { limits } from '../../../platform/limits.ts'
import { type Schedule, systemSchedule } from '../../../platform/schedule.ts'
import { openTally } from '../../../platform/tally.ts'
import { networkOf } from '../../../values/ip-network.ts'

/**
 * Bounds the memory of answers that their clients have not taken yet, for each client and in all. A
 * small answer is not counted: the operating system takes it at once.
 */
export type UnsentAnswers = {
  /** Before a large answer is made. Requests of one client are admitted in their order. */
  readonly reserve: ReserveAnswer
  /**
   * Counts an answer in place of what was reserved for it. Throws a 503 if it is larger than that
   * and does not fit. The only answer of a client always fits.
   */
  hold(answer: Answer, request: { readonly trace: Trace; readonly address: string }): void
  /** Counts no more once the response is sent, or its client gone. A request that waits ends. */
  watch(response: ServerResponse, trace: Trace): void
}

export type UnsentBounds = {
  readonly perClientMax: number
  readonly totalMax: number
  readonly waitMs: number
  readonly schedule: Schedule
}

/** What one request holds, or wants to hold. */
type Share = { readonly key: string; readonly bytes: number }

type Waiting = Share & { readonly admit: () => void; readonly refuse: () => void }

export function openUnsentAnswers(given: Partial<UnsentBounds> = {}): UnsentAnswers {
  const { waitMs, schedule, ...bounds } = { ...defaults, ...given }
  const sums = openTally()
  /** `instead` are bytes of the client that the share replaces. */
  const fits = ({ key, bytes }: Share, instead = 0): boolean => {
    const [own, all] = [sums.of(key) - instead, sums.total() - instead]
    const { perClientMax, totalMax } = bounds
    return (own === 0 || own + bytes <= perClientMax) && (all === 0 || all + bytes <= totalMax)
  }
  const queues = openQueues(fits)
  const held = new WeakMap<Trace, Share>()
  const waits = new WeakMap<Trace, Waiting>()
  const ended = new WeakSet<Trace>()
  const count = (trace: Trace, share: Share) => {
    const more = share.bytes - (held.get(trace)?.bytes ?? 0)
    held.set(trace, share)
    sums.add(share.key, more)
    if (more < 0) queues.admit()
  }
  const wait = (trace: Trace, share: Share): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const refuse = () => {
      cancel()
      queues.leave(waiting)
      reject(noRoom)
      // A smaller answer may have waited behind this one.
      queues.admit()
    }
    const cancel = schedule.after(waitMs, refuse)
    const admit = () => {
      cancel()
      count(trace, share)
      resolve()
    }
    const waiting = { ...share, admit, refuse }
    waits.set(trace, waiting)
    queues.join(waiting)
    return promise
  }
  const release = (trace: Trace) => {
    ended.add(trace)
    const share = held.get(trace)
    if (share === undefined) waits.get(trace)?.refuse()
    else count(trace, { ...share, bytes: 0 })
  }
  return {
    reserve: async (key, bytes, trace) => {
      if (bytes <= limits.smallAnswerBytesMax) return
      if (ended.has(trace)) throw noRoom
      const share = { key, bytes }
      if (!queues.has(key) && fits(share)) count(trace, share)
      else await wait(trace, share)
    },
    hold: (answer, { trace, address }) => {
      if (ended.has(trace)) return
      const reserved = held.get(trace)
      const key = reserved?.key ?? trace.client ?? `address ${networkOf(address)}`
      const share = { key, bytes: bytesOf(answer) }
      const { bytes: before = 0 } = reserved ?? {}
      const isRefused = share.bytes > before && !fits(share, before)
      if (share.bytes !== before) count(trace, isRefused ? { key, bytes: 0 } : share)
      if (isRefused) throw noRoom
    },
    watch: (response, trace) => {
      if (response.destroyed) release(trace)
      else response.once('close', () => release(trace))
    },
  }
}

/** Requests that wait, by client. Clients take turns: the one admitted last comes last. */
function openQueues(fits: (share: Share) => boolean) {
  const queues = new Map<string, Set<Waiting>>()
  const leave = (waiting: Waiting) => {
    const queue = queues.get(waiting.key)
    queue?.delete(waiting)
    if (queue?.size === 0) queues.delete(waiting.key)
  }
  return {
    leave,
    has: (key: string) => queues.has(key),
    join: (waiting: Waiting) => {
      const queue = queues.get(waiting.key) ?? new Set()
      queues.set(waiting.key, queue.add(waiting))
    },
    admit: () => {
      for (const [key, queue] of [...queues]) {
        for (const waiting of queue) {
          if (!fits(waiting)) break
          leave(waiting)
          waiting.admit()
          // Behind the others, if more of the client wait.
          if (queues.delete(key)) queues.set(key, queue)
        }
      }
    },
  }
}

const defaults: UnsentBounds = {
  perClientMax: limits.unsentBytesPerClientMax,
  totalMax: limits.unsentBytesMax,
  waitMs: limits.unsentWaitMs,
  schedule: systemSchedule,
}

/** What the answer adds to the memory of the process. */
function bytesOf({ body, isShared }: Answer): number {
  if (body === undefined || isShared === true) return 0
  const bytes = Buffer.byteLength(body)
  return bytes <= limits.smallAnswerBytesMax ? 0 : bytes
}

const noRoom = problem(
  'unavailable',
  'too many answers wait for their clients to read them; read yours, then send the request again',
  { retryAfter: 1 },
)

import { limitsOf, openFairQueue, openTally } from '@bursar/base'
import { type Problem, problem } from '@bursar/contract'

const limits = limitsOf({
  /**
   * Streams that a process stores at a time. Each takes a process of some 200 MB, a core at a lower
   * priority, and a session for its merge.
   */
  streamsMax: 4,
  /** Streams of one client: half of all, so that no client can keep the others waiting. */
  streamsPerClientMax: 2,
  /** Streams that are received, wait or are stored, each with a file: of all clients and of one. */
  streamsHeldMax: 40,
  streamsHeldPerClientMax: 10,
  /** How long a stream waits after its last byte: proxies allow a minute. */
  streamWaitMs: 30_000,
})

/** Bounds the streams of a process: those that hold a file, and those that are stored. */
export type StreamGate = {
  /** Counts a stream while it is received, waits or is stored. Throws if there are too many. */
  hold<T>(clientId: string, work: () => Promise<T>): Promise<T>
  /**
   * Admits some of them at a time, because each takes a process and a session for its merge. A
   * client has at most its share, and those that wait are admitted one client after the other. A
   * stream stops waiting with the signal's reason.
   */
  store<T>(clientId: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>
}

export type GateBounds = {
  readonly streamsMax: number
  readonly streamsPerClientMax: number
  readonly streamsHeldMax: number
  readonly streamsHeldPerClientMax: number
  readonly streamWaitMs: number
}

export function openStreamGate(bounds: GateBounds = limits): StreamGate {
  const held = openTally()
  const queue = openFairQueue({
    totalMax: bounds.streamsMax,
    perKeyMax: bounds.streamsPerClientMax,
    // Each that waits is held.
    waitingMax: bounds.streamsHeldMax,
    waitingPerKeyMax: bounds.streamsHeldPerClientMax,
    waitMs: bounds.streamWaitMs,
    refusal: tooMany,
  })
  const wait = async (clientId: string, signal: AbortSignal): Promise<void> => {
    const turn = queue.wait(clientId, 1)
    const leave = () => turn.leave(signal.reason)
    signal.addEventListener('abort', leave)
    await turn.admitted.finally(() => signal.removeEventListener('abort', leave))
  }
  return {
    hold: async (clientId, work) => {
      if (held.of(clientId) >= bounds.streamsHeldPerClientMax) throw tooManyOfClient(bounds)
      if (held.total() >= bounds.streamsHeldMax) throw tooMany()
      held.add(clientId, 1)
      try {
        return await work()
      } finally {
        held.add(clientId, -1)
      }
    },
    store: async (clientId, signal, work) => {
      signal.throwIfAborted()
      if (!queue.tryTake(clientId, 1)) await wait(clientId, signal)
      try {
        return await work()
      } finally {
        queue.add(clientId, -1)
      }
    },
  }
}

const tooMany = (): Problem =>
  problem('unavailable', 'as many streams as possible are being stored, try again shortly', {
    retryAfter: 1,
  })

const tooManyOfClient = ({ streamsHeldPerClientMax: streams }: GateBounds): Problem =>
  problem(
    'tooManyRequests',
    `this client has ${streams} streams in progress; send one after the other`,
    { retryAfter: 1 },
  )

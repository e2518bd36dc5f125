import { type Problem, problem } from '../../contract/problem.ts'
import { limits } from '../../platform/limits.ts'
import { type Schedule, systemSchedule } from '../../platform/schedule.ts'
import { openTally } from '../../platform/tally.ts'

/**
 * Admits some streams at a time, because each takes a file, the processor, and a session for its
 * merge. A client has at most its share of them, and those that wait are admitted one client after
 * the other. A stream stops waiting with the signal's reason.
 */
export type StreamGate = <T>(
  clientId: string,
  signal: AbortSignal,
  work: () => Promise<T>,
) => Promise<T>

export type GateBounds = {
  readonly streamsMax: number
  readonly streamsPerClientMax: number
  readonly streamsWaitingMax: number
  readonly streamsWaitingPerClientMax: number
  readonly streamWaitMs: number
}

type Waiter = { readonly admit: () => void }

/** Little is received of a stream that waits, so its client stops sending. */
export function openStreamGate(
  schedule: Schedule = systemSchedule,
  bounds: GateBounds = limits,
): StreamGate {
  const running = openTally()
  // The client that comes first has its turn next.
  const waiting = new Map<string, Waiter[]>()
  const hasRoom = (clientId: string): boolean =>
    running.total() < bounds.streamsMax && running.of(clientId) < bounds.streamsPerClientMax
  const leaveQueue = (clientId: string, waiter: Waiter): void => {
    const others = (waiting.get(clientId) ?? []).filter((other) => other !== waiter)
    waiting.delete(clientId)
    if (others.length > 0) waiting.set(clientId, others)
  }
  const admitNext = (): void => {
    for (const [clientId, [first]] of waiting) {
      if (first === undefined || !hasRoom(clientId)) continue
      // This moves the client behind the others.
      leaveQueue(clientId, first)
      running.add(clientId, 1)
      first.admit()
      return
    }
  }
  const wait = (clientId: string, signal: AbortSignal): Promise<void> => {
    const own = waiting.get(clientId) ?? []
    if (own.length >= bounds.streamsWaitingPerClientMax) throw tooManyOfClient(bounds)
    const all = waiting.values().reduce((sum, { length }) => sum + length, 0)
    if (all >= bounds.streamsWaitingMax) throw tooMany()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { admit: resolve }
    const refuse = (reason: unknown) => {
      leaveQueue(clientId, waiter)
      reject(reason)
    }
    const onAbort = () => refuse(signal.reason)
    signal.addEventListener('abort', onAbort)
    const cancel = schedule.after(bounds.streamWaitMs, () => refuse(tooMany()))
    waiting.set(clientId, [...own, waiter])
    return promise.finally(() => {
      signal.removeEventListener('abort', onAbort)
      cancel()
    })
  }
  return async (clientId, signal, work) => {
    signal.throwIfAborted()
    if (hasRoom(clientId)) running.add(clientId, 1)
    else await wait(clientId, signal)
    try {
      return await work()
    } finally {
      running.add(clientId, -1)
      admitNext()
    }
  }
}

const tooMany = (): Problem =>
  problem('unavailable', 'as many streams as possible are being stored, try again shortly', {
    retryAfter: 1,
  })

const tooManyOfClient = ({
  streamsPerClientMax: running,
  streamsWaitingPerClientMax: waiting,
}: GateBounds): Problem =>
  problem(
    'tooManyRequests',
    `this client has ${running} streams in progress and ${waiting} that wait; send one after the other`,
    { retryAfter: 1 },
  )

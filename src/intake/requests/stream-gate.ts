import { type Problem, problem } from '../../contract/problem.ts'
import { openFairQueue } from '../../platform/fair-queue.ts'
import { limits } from '../../platform/limits.ts'
import { type Schedule, systemSchedule } from '../../platform/schedule.ts'

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

/** Little is received of a stream that waits, so its client stops sending. */
export function openStreamGate(
  schedule: Schedule = systemSchedule,
  bounds: GateBounds = limits,
): StreamGate {
  const queue = openFairQueue({
    totalMax: bounds.streamsMax,
    perKeyMax: bounds.streamsPerClientMax,
    waitingMax: bounds.streamsWaitingMax,
    waitingPerKeyMax: bounds.streamsWaitingPerClientMax,
    waitMs: bounds.streamWaitMs,
    schedule,
    refusal: (cause) => (cause === 'full-of-key' ? tooManyOfClient(bounds) : tooMany()),
  })
  const wait = async (clientId: string, signal: AbortSignal): Promise<void> => {
    const turn = queue.wait(clientId, 1)
    const leave = () => turn.leave(signal.reason)
    signal.addEventListener('abort', leave)
    await turn.admitted.finally(() => signal.removeEventListener('abort', leave))
  }
  return async (clientId, signal, work) => {
    signal.throwIfAborted()
    if (!queue.tryTake(clientId, 1)) await wait(clientId, signal)
    try {
      return await work()
    } finally {
      queue.add(clientId, -1)
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

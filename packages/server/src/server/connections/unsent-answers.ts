import { limitsOf, networkOf, openFairQueue, type Turn } from '@bursar/base'
import { type Answer, problem, type ReserveAnswer, type Trace } from '@bursar/contract'

const limits = limitsOf({
  /**
   * Answers that clients have not taken yet, in bytes: of one client some 60 pages of 1,000
   * accounts, more than it can read at a time, and of all clients what a process may grow by.
   */
  unsentBytesPerClientMax: 32 * 1024 * 1024,
  unsentBytesMax: 256 * 1024 * 1024,
  /** With less memory than 2 GiB for a worker, all of them get one part of it in eight. */
  unsentPartOfMemory: 8,
  /** How long a large answer waits until others are taken. Clients give up after some 10 s. */
  unsentWaitMs: 5000,
  /** Large answers that may wait, of one client and of all: more would wait in vain. */
  unsentWaitingPerClientMax: 200,
  unsentWaitingMax: 1000,
  /** An answer that is not counted: the system takes so much at once (`tcp_wmem`, its default). */
  smallAnswerBytesMax: 16 * 1024,
})

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
  /** Once the answer is sent, or its client gone: counts no more. A request that waits ends. */
  end(trace: Trace): void
}

export type UnsentBounds = {
  readonly perClientMax: number
  readonly totalMax: number
  readonly waitingPerClientMax: number
  readonly waitingMax: number
  readonly waitMs: number
}

/** What one request holds. */
type Share = { readonly key: string; readonly bytes: number }

export function openUnsentAnswers(given: Partial<UnsentBounds> = {}): UnsentAnswers {
  const { perClientMax, waitingPerClientMax, ...bounds } = { ...defaults, ...given }
  const queue = openFairQueue({
    ...bounds,
    perKeyMax: perClientMax,
    waitingPerKeyMax: waitingPerClientMax,
    refusal: () => noRoom,
  })
  const held = new WeakMap<Trace, Share>()
  const turns = new WeakMap<Trace, Turn>()
  const change = (trace: Trace, share: Share) => {
    const before = held.get(trace)?.bytes ?? 0
    held.set(trace, share)
    if (share.bytes !== before) queue.add(share.key, share.bytes - before)
  }
  return {
    reserve: async (key, bytes, trace) => {
      if (bytes <= limits.smallAnswerBytesMax) return
      if (hasEnded(trace)) throw noRoom
      if (!queue.tryTake(key, bytes)) {
        const turn = queue.wait(key, bytes)
        turns.set(trace, turn)
        await turn.admitted
        // Its client may have left in the same turn of the event loop.
        if (hasEnded(trace)) {
          queue.add(key, -bytes)
          throw noRoom
        }
      }
      held.set(trace, { key, bytes })
    },
    hold: (answer, { trace, address }) => {
      if (hasEnded(trace)) return
      const share = held.get(trace)
      const bytes = bytesOf(answer)
      if (bytes === 0 && share === undefined) return
      const { key, bytes: before } = share ?? {
        key: trace.client ?? `address ${networkOf(address)}`,
        bytes: 0,
      }
      const isRefused = bytes > before && !queue.fits(key, bytes, before)
      change(trace, { key, bytes: isRefused ? 0 : bytes })
      if (isRefused) throw noRoom
    },
    end: (trace) => {
      trace.hasEnded = true
      const share = held.get(trace)
      if (share === undefined) turns.get(trace)?.leave(noRoom)
      else change(trace, { ...share, bytes: 0 })
    },
  }
}

/** The bounds of a process that may use so much memory. */
export function unsentBoundsWithin(memoryBytes: number) {
  const part = Math.floor(memoryBytes / limits.unsentPartOfMemory)
  const totalMax = Math.min(limits.unsentBytesMax, part)
  // One client leaves half of the room to the others.
  const perClientMax = Math.min(limits.unsentBytesPerClientMax, Math.floor(totalMax / 2))
  return { perClientMax, totalMax }
}

const defaults: UnsentBounds = {
  perClientMax: limits.unsentBytesPerClientMax,
  totalMax: limits.unsentBytesMax,
  waitingPerClientMax: limits.unsentWaitingPerClientMax,
  waitingMax: limits.unsentWaitingMax,
  waitMs: limits.unsentWaitMs,
}

const hasEnded = ({ hasEnded = false }: Trace): boolean => hasEnded

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

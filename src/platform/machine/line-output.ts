import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { limits } from '../limits.ts'
import { systemSchedule } from '../schedule.ts'

/** Writes lines to stderr and never waits for their reader. */
export type LineOutput = {
  write(line: string): void
  readonly state: () => LineOutputState
}

export type LineOutputState = {
  /** Lines dropped since the start. */
  readonly dropped: number
  /** Bytes that wait for the reader. */
  readonly waitingBytes: number
}

const STDERR = 2

/**
 * A line is handed to the system before `write` returns, so a crash loses none. Where the reader
 * has stopped, lines wait in a bounded buffer; further ones are dropped and counted. `noteDropped`
 * is called once the reader has taken the buffer. Only the end of the process waits, and not long.
 *
 * Pino's own destination sleeps while a pipe is full (`sync: true`). Without `sync` it loses what
 * is buffered in a crash, and a write to a pipe that nobody reads holds one of Node's four threads.
 */
export function openLineOutput(noteDropped: (count: number) => void): LineOutput {
  let descriptor: number | undefined
  const waiting: Buffer[] = []
  let waitingBytes = 0
  let [dropped, noted] = [0, 0]
  let delayMs = RETRY_MS_MIN
  const open = () => {
    process.once('exit', flush)
    return openWithoutWaiting()
  }
  /** Writes what the system takes. Returns why it took no more. */
  const drain = (): string | undefined => {
    descriptor ??= open()
    for (let line = waiting[0]; line !== undefined; line = waiting[0]) {
      const { taken, fault } = writeSome(descriptor, line)
      waitingBytes -= taken
      // One write for each line: a pipe takes a line whole, beside those of other processes.
      if (taken === line.length) waiting.shift()
      else waiting[0] = line.subarray(taken)
      if (fault !== undefined) return fault
    }
    if (dropped > noted) {
      const count = dropped - noted
      noted = dropped
      noteDropped(count)
    }
    return undefined
  }
  const retry = () => {
    const before = waitingBytes
    if (drain() === undefined) {
      delayMs = RETRY_MS_MIN
      return
    }
    delayMs = waitingBytes < before ? RETRY_MS_MIN : Math.min(delayMs * 2, RETRY_MS_MAX)
    systemSchedule.after(delayMs, retry)
  }
  const flush = () => {
    const until = performance.now() + limits.logFlushMs
    while (drain() === 'EAGAIN' && performance.now() < until) pause(RETRY_MS_MIN)
  }
  return {
    write: (line) => {
      const bytes = Buffer.from(line)
      if (waiting.length > 0 && waitingBytes + bytes.length > limits.logWaitingBytesMax) {
        dropped += 1
        return
      }
      waitingBytes += bytes.length
      // The retry of an earlier line takes this one along.
      if (waiting.push(bytes) === 1) retry()
    },
    state: () => ({ dropped, waitingBytes }),
  }
}

const RETRY_MS_MIN = 5
const RETRY_MS_MAX = 200

/** Any fault, such as a full disk, may pass. A line that cannot be written waits like others. */
function writeSome(descriptor: number, line: Buffer): { taken: number; fault?: string } {
  try {
    const taken = writeSync(descriptor, line)
    return taken === line.length ? { taken } : { taken, fault: 'EAGAIN' }
  } catch (error) {
    return { taken: 0, fault: (error as NodeJS.ErrnoException).code ?? 'unknown' }
  }
}

/** A descriptor for stderr whose writes fail with EAGAIN where they would wait. */
function openWithoutWaiting(): number {
  if (fstatSync(STDERR).isFile()) return STDERR
  // This makes a pipe or a socket non-blocking, also for messages of the runtime itself.
  void process.stderr
  try {
    // A pipe or a terminal that is opened again has its own flags. Otherwise another process
    // that ends could set those that all share.
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
    return openSync(`/proc/self/fd/${STDERR}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    return STDERR
  }
}

const pause = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

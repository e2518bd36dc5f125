import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { limits } from '../limits.ts'
import { systemTime } from '../time.ts'

/** Writes lines to a sink and never waits for their reader. */
export type LineOutput = {
  /** Lines of one turn of the event loop share a write. An urgent one takes them along at once. */
  write(line: string, isUrgent: boolean): void
  readonly state: () => LineOutputState
}

export type LineOutputState = {
  /** Lines dropped since the start. */
  readonly dropped: number
  /** Bytes that wait for the reader. */
  readonly waitingBytes: number
}

/** Takes some of the bytes, and returns how many. Throws if it takes none. */
export type Sink = (bytes: Uint8Array) => number

/** As many lines as a pipe takes whole, beside those of other processes: `PIPE_BUF` of Linux. */
const WRITE_BYTES_MAX = 4096
/** A turn that logs more than this does not wait for its end. */
const TURN_BYTES_MAX = 64 * 1024

/**
 * Lines are handed to the system at the end of their turn, or with an urgent line, or when the
 * process ends. Where the reader has stopped, lines wait in a bounded buffer; further ones are
 * dropped and counted. `noteDropped` is called once the reader has taken the buffer. Only the end
 * of the process waits, and not long.
 *
 * Pino's own destination sleeps while a pipe is full (`sync: true`). Without `sync` it loses what
 * is buffered in a crash, and a write to a pipe that nobody reads holds one of Node's four threads.
 */
export function openLineOutput(
  noteDropped: (count: number) => void,
  openSink: () => Sink = openStderr,
): LineOutput {
  let sink: Sink | undefined
  const waiting: Buffer[] = []
  const turn = { lines: '', bytes: 0 }
  let waitingBytes = 0
  let [dropped, noted] = [0, 0]
  let delayMs = RETRY_MS_MIN
  let isBehind = false
  let isScheduled = false
  const endOfWrite = () => {
    if (turn.bytes > 0) waiting.push(Buffer.from(turn.lines))
    turn.lines = ''
    turn.bytes = 0
  }
  const opened = () => {
    if (sink === undefined) {
      process.once('exit', handOverAtExit)
      sink = openSink()
    }
    return sink
  }
  /** Writes what the system takes. Returns why it took no more. */
  const drain = (): string | undefined => {
    endOfWrite()
    for (let bytes = waiting[0]; bytes !== undefined; bytes = waiting[0]) {
      const { taken, fault } = writeSome(opened(), bytes)
      waitingBytes -= taken
      if (taken === bytes.length) waiting.shift()
      else waiting[0] = bytes.subarray(taken)
      if (fault !== undefined) return fault
    }
    if (dropped > noted) {
      const count = dropped - noted
      noted = dropped
      noteDropped(count)
      return drain()
    }
    return undefined
  }
  const retry = () => {
    const before = waitingBytes
    isBehind = drain() !== undefined
    delayMs =
      !isBehind || waitingBytes < before ? RETRY_MS_MIN : Math.min(delayMs * 2, RETRY_MS_MAX)
    if (isBehind) systemTime.after(delayMs, retry)
  }
  // The retry takes later lines along.
  const handOver = () => {
    if (!isBehind && waitingBytes > 0) retry()
  }
  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      handOver()
    })
  }
  const handOverAtExit = () => {
    const until = systemTime.elapsedMs() + limits.logFlushMs
    while (drain() === 'EAGAIN' && systemTime.elapsedMs() < until) pause(RETRY_MS_MIN)
  }
  return {
    write: (line, isUrgent) => {
      opened()
      const bytes = Buffer.byteLength(line)
      if (isBehind && waitingBytes + bytes > limits.logWaitingBytesMax) {
        dropped += 1
        return
      }
      if (turn.bytes + bytes > WRITE_BYTES_MAX) endOfWrite()
      turn.lines += line
      turn.bytes += bytes
      waitingBytes += bytes
      if (isUrgent || waitingBytes > TURN_BYTES_MAX) handOver()
      else schedule()
    },
    state: () => ({ dropped, waitingBytes: isBehind ? waitingBytes : 0 }),
  }
}

const RETRY_MS_MIN = 5
const RETRY_MS_MAX = 200

/** Any fault, such as a full disk, may pass. Bytes that cannot be written wait like others. */
function writeSome(sink: Sink, bytes: Uint8Array): { taken: number; fault?: string } {
  try {
    const taken = sink(bytes)
    return taken === bytes.length ? { taken } : { taken, fault: 'EAGAIN' }
  } catch (error) {
    return { taken: 0, fault: (error as NodeJS.ErrnoException).code ?? 'unknown' }
  }
}

function openStderr(): Sink {
  const descriptor = openWithoutWaiting()
  return (bytes) => writeSync(descriptor, bytes)
}

const STDERR = 2

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

import { constants, fstatSync, openSync } from 'node:fs'
import { pino } from 'pino'
import { limitsOf } from '../declare-limits.ts'
import { systemTime } from '../time.ts'

const limits = limitsOf({
  /** Lines that wait for a reader of the log that has stopped: about 4,000 requests. */
  logWaitingBytesMax: 1024 * 1024,
  /** How long the end of the process waits for that reader. */
  logFlushMs: 500,
})

/** Where the lines of a log go. It never waits for their reader. */
export type LogOutput = {
  /** Lines of one turn of the event loop share a write. An urgent one takes them along at once. */
  write(line: string, isUrgent: boolean): void
  readonly state: () => LogOutputState
}

export type LogOutputState = {
  /** Lines dropped since the start. */
  readonly dropped: number
  /** Whether lines wait for the reader. */
  readonly isBehind: boolean
}

/** As many lines as a pipe takes whole, beside those of other processes: `PIPE_BUF` of Linux. */
const WRITE_BYTES_MAX = 4096
const RETRY_MS = 100
const PAUSE_MS = 5

/**
 * Pino's own destination over a descriptor whose writes do not wait. While nobody reads it, lines
 * wait up to a bound, and further ones are dropped. `noteDropped` gets their number once the reader
 * has taken what waits. Only the end of the process waits, and not long.
 */
export function openLogOutput(
  noteDropped: (count: number) => void,
  openDescriptor = openWithoutWaiting,
): LogOutput {
  let [dropped, noted] = [0, 0]
  let isBehind = false
  let isScheduled = false
  const open = () => {
    const lines = pino.destination({
      fd: openDescriptor(),
      sync: true,
      minLength: WRITE_BYTES_MAX - 1,
      maxWrite: WRITE_BYTES_MAX,
      maxLength: limits.logWaitingBytesMax,
      // A pause would hold the event loop. Without one, the destination emits the error.
      retryEAGAIN: () => false,
    })
    lines.on('drop', () => {
      dropped += 1
    })
    // Its own listener takes a reader that has left for the end. Another may come.
    lines.removeAllListeners('error').on('error', () => {
      if (!isBehind) systemTime.after(RETRY_MS, retry)
      isBehind = true
    })
    process.once('exit', writeAtExit)
    return lines
  }
  let opened: ReturnType<typeof open> | undefined
  const retry = () => {
    isBehind = false
    opened?.flush()
    // What is shorter than a write has stayed.
    if (!isBehind) opened?.flush()
    if (isBehind || dropped === noted) return
    const count = dropped - noted
    noted = dropped
    noteDropped(count)
  }
  const writeAtExit = () => {
    const until = systemTime.elapsedMs() + limits.logFlushMs
    for (retry(); isBehind && systemTime.elapsedMs() < until; retry()) pause(PAUSE_MS)
  }
  return {
    write: (line, isUrgent) => {
      opened ??= open()
      opened.write(line)
      if (isUrgent) return opened.flush()
      if (isScheduled) return
      isScheduled = true
      setImmediate(() => {
        isScheduled = false
        opened?.flush()
      })
    },
    state: () => ({ dropped, isBehind }),
  }
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

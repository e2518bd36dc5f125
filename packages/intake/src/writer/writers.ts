import { type Clock, type Config, type Logger, limitsOf, systemTime } from '@bursar/base'
import type { CustomerKeySource, Spools } from '@bursar/records'
import type { ImportReport } from '../files/import-file.ts'
import type { StreamJob } from './stream-job.ts'
import { startWriter, type WriterProcess } from './writer-process.ts'

const limits = limitsOf({
  /** How long a writer is kept without a stream: to start one takes half a second. */
  writerKeptMs: 60_000,
})

/**
 * The processes that import streams. SQLite runs in the process that calls it, and a merge holds it
 * for seconds. So the serving process does neither read nor merge a stream.
 */
export type Writers = {
  /** Imports a stream in a process that has no other. */
  run(job: Omit<StreamJob, 'clockAhead'>, signal: AbortSignal): Promise<ImportReport>
  /** Kills the processes, and waits until they have ended. */
  close(): Promise<void>
}

export type WritersDeps = {
  readonly config: Config
  readonly log: Logger
  readonly clock: Clock
  readonly spools: Pick<Spools, 'removeAbandoned'>
  readonly keys: CustomerKeySource
  readonly memoryMegabytes?: number
}

/** The caller bounds how many streams run at a time. A process starts with the first of them. */
export function openWriters(deps: WritersDeps): Writers {
  const { log, clock, spools } = deps
  const running = new Set<WriterProcess>()
  // One process is kept for a while, so that a series of streams starts one.
  let idle: { readonly writer: WriterProcess; readonly cancel: () => void } | undefined
  let isClosing = false
  const killAll = () => {
    for (const writer of running) void writer.kill()
  }
  const start = (): WriterProcess => {
    const writer = startWriter(deps)
    if (running.size === 0) process.on('exit', killAll)
    running.add(writer)
    log.debug({ pid: writer.pid }, 'a writer of streams has started')
    void writer.ended.then(({ how, printed, isOurs }) => {
      running.delete(writer)
      if (running.size === 0) process.off('exit', killAll)
      // Lines that it has staged for PostgreSQL lie in files of that process.
      spools.removeAbandoned()
      if (!isOurs) log.error({ pid: writer.pid, how, printed }, 'a writer of streams has ended')
    })
    return writer
  }
  const takeIdle = (): WriterProcess | undefined => {
    const { writer, cancel } = idle ?? {}
    idle = undefined
    cancel?.()
    return writer?.isAlive() === true ? writer : undefined
  }
  const keep = (writer: WriterProcess): void => {
    if (!writer.isAlive()) return
    if (idle !== undefined || isClosing) return void writer.kill()
    const cancel = systemTime.after(limits.writerKeptMs, () => void takeIdle()?.kill())
    idle = { writer, cancel }
  }
  return {
    run: async (job, signal) => {
      const writer = takeIdle() ?? start()
      try {
        return await writer.run({ ...job, clockAhead: aheadOf(clock) }, signal)
      } finally {
        keep(writer)
      }
    },
    close: async () => {
      isClosing = true
      takeIdle()
      await Promise.all([...running].map((writer) => writer.kill()))
    },
  }
}

/** The machine's clock may go on between two calls. */
function aheadOf(clock: Clock): bigint {
  for (;;) {
    const real = systemTime.now()
    const ahead = clock() - real
    if (systemTime.now() === real) return ahead
  }
}

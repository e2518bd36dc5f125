import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { systemTime } from '../../platform/time.ts'
import type { CustomerKeySource } from '../../store/sealing/customer-keys.ts'
import type { Spools } from '../../store/spool.ts'
import type { ImportReport } from '../files/import-file.ts'
import { type MergeTimes, openMergeTimes } from './merge-times.ts'
import type { Phase, StreamJob } from './stream-job.ts'
import { type Following, startWriter, type WriterProcess } from './writer-process.ts'

/**
 * The processes that import streams. SQLite runs in the process that calls it, and a merge holds it
 * for seconds. So the serving process does neither read nor merge a stream.
 */
export type Writers = {
  /** Imports a stream in a process that has no other. */
  run(job: Omit<StreamJob, 'clockAhead'>, following: Following): Promise<ImportReport>
  /** How long the merges that run will still take. Undefined if none runs. */
  readonly mergeLeftMs: MergeTimes['leftMs']
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
  const times = openMergeTimes()
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
  const watched = ({ told, ...given }: Following, kind: string) => {
    let mergeEnded: ((isStored: boolean) => void) | undefined
    let before: Phase = 'reading'
    const startedAt = systemTime.elapsedMs()
    const following: Following = {
      ...given,
      told: (progress) => {
        const { phase, records } = progress
        // What follows the wait for a lock runs with the lock.
        if (before === 'store_lock' || before === 'customer_lock') {
          mergeEnded = times.begin(kind, records, systemTime.elapsedMs() - startedAt)
        }
        before = phase
        told(progress)
      },
    }
    return { following, mergeEnded: (isStored: boolean) => mergeEnded?.(isStored) }
  }
  return {
    run: async (job, given) => {
      const writer = takeIdle() ?? start()
      const { following, mergeEnded } = watched(given, job.kind)
      try {
        const report = await writer.run({ ...job, clockAhead: aheadOf(clock) }, following)
        mergeEnded(report.faultCount === 0)
        return report
      } finally {
        mergeEnded(false)
        keep(writer)
      }
    },
    mergeLeftMs: times.leftMs,
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

import { type Background, baseLimits, type Logger, limitsOf, systemTime } from '@bursar/base'
import { StoreCorrupted } from '@bursar/records'
import type { FileCheck } from './file-check.ts'

const limits = limitsOf({
  /** Pause after a check of all tables, as a multiple of its time: 1 % of a core. */
  tableCheckRestTimes: 100,
})

export type DamageWatch = {
  /** Which file is damaged, as a sentence that says what to do. It stays until a restart. */
  fault(): string | undefined
  /** Has the files checked if the error of a request says that SQLite found damage. */
  noteFailure(error: unknown): void
  stop(): Promise<void>
}

type DamageWatchDeps = {
  /** The files that are open. */
  readonly paths: () => readonly string[]
  readonly check: FileCheck
  readonly log: Logger
  readonly background: Background
}

/**
 * Checks the files of a store now and then, because a damaged index hides records without an error,
 * and soon after SQLite has reported damage itself.
 */
export function watchDamage({ paths, check, log, background }: DamageWatchDeps): DamageWatch {
  let fault: string | undefined
  let isSuspected = false
  let suspectableAt = Number.NEGATIVE_INFINITY
  let isStopped = false
  const checkAll = async () => {
    const startedAt = systemTime.elapsedMs()
    const wasSuspected = isSuspected
    isSuspected = false
    let isFailed = false
    try {
      for (const path of paths()) fault ??= await confirmedFault(check, path)
      if (fault === undefined && wasSuspected) log.warn(UNCONFIRMED)
    } catch (error) {
      isFailed = true
      if (!isStopped) log.warn({ err: error }, 'the tables of the store cannot be checked')
    }
    const tookMs = systemTime.elapsedMs() - startedAt
    const pauseMs = Math.max(baseLimits.scanRoundRestMs, limits.tableCheckRestTimes * tookMs)
    return { pauseMs, isFailed }
  }
  const checking = background.start('check-tables', checkAll, { firstMs: baseLimits.damageLookMs })
  return {
    fault: () => fault,
    noteFailure: (error) => {
      const now = systemTime.elapsedMs()
      if (!(error instanceof StoreCorrupted) || now < suspectableAt) return
      suspectableAt = now + baseLimits.scanRoundRestMs
      isSuspected = true
      void checking.runSoon()
    },
    stop: async () => {
      isStopped = true
      checking.stop()
      await check.stop()
    },
  }
}

/** A fault in the memory of one connection is none of the file, so a second check confirms it. */
async function confirmedFault(check: FileCheck, path: string): Promise<string | undefined> {
  const fault = (await check.run(path)) && (await check.run(path))
  return (
    fault &&
    `${path} is damaged: ${fault}; stop this server, and restore a backup with \`bursar restore FILE --replace\``
  )
}

const UNCONFIRMED =
  'SQLite reported damage that a check over a fresh connection did not find; restart this server if it is reported again'

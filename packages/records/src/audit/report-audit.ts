import { appendFile } from 'node:fs/promises'
import {
  type Background,
  type Clock,
  closeToOthers,
  type Logger,
  limitsOf,
  makePrivateFile,
  printInstant,
  type Ran,
  systemTime,
} from '@bursar/base'
import type { AuditEntry } from '@bursar/contract'
import type { AuditHead, AuditLog } from '../audit.ts'

const limits = limitsOf({
  /**
   * Rows of one count of what is too frequent for an entry each. Clients beyond them are counted
   * together.
   */
  auditCountsMax: 1000,
})

/** Counts what is too frequent for an entry each, in bounded memory. */
export type AuditCounts = {
  /** Counts one more. The key stands for the meaning, which is made for the first one only. */
  add(key: string, meaning: () => AuditEntry): void
}

type ReportDeps = {
  readonly audit: AuditLog
  readonly log: Logger
  readonly clock: Clock
  readonly background: Background
  /** Where each head is kept too. */
  readonly headsFile: string | undefined
}

export type AuditReport = AuditCounts & {
  /** Writes what is counted, and the head. */
  stop(): Promise<void>
}

type Counted = { readonly entry: AuditEntry; count: number }

/** Writes the counts of each minute to the audit log, and the head of the chain to the log. */
export function startAuditReport(deps: ReportDeps): AuditReport {
  const { audit, log, clock, background } = deps
  let counted = new Map<string, Counted>()
  let since = clock()
  const addAll = (key: string, entry: AuditEntry, count: number) => {
    const known = counted.get(key)
    if (known !== undefined) known.count += count
    else if (counted.size < limits.auditCountsMax) counted.set(key, { entry, count })
    else {
      const { action, outcome } = entry
      const others: AuditEntry = { action, actor: { type: 'others' }, outcome }
      const together = counted.get(`others ${action}`)
      if (together !== undefined) together.count += count
      else counted.set(`others ${action}`, { entry: others, count })
    }
  }
  const writeCounts = async (): Promise<boolean> => {
    const [taken, from] = [counted, printInstant(since)]
    if (taken.size === 0) {
      since = clock()
      return true
    }
    counted = new Map()
    const until = printInstant(clock())
    const results = await Promise.allSettled(
      taken.values().map(({ entry, count }) => audit.write({ ...entry, count, from, until })),
    )
    let failure: unknown
    for (const [at, [key, { entry, count }]] of [...taken].entries()) {
      const result = results[at]
      if (result?.status !== 'rejected') continue
      failure = result.reason
      addAll(key, entry, count)
    }
    if (failure === undefined) since = clock()
    else log.warn({ err: failure }, 'counts of the audit log could not be written yet')
    return failure === undefined
  }
  // No level switches these lines off, but for a program that embeds the service in silence.
  const headLog = log.level === 'silent' ? log : log.child({}, { level: 'info' })
  const heads = openHeads({ ...deps, log: headLog })
  const report = async (): Promise<Ran> => {
    const isWritten = await writeCounts()
    const isShown = await heads.write()
    return { isFailed: !(isWritten && isShown) }
  }
  const reporting = background.start('report-audit', report)
  return {
    add: (key, meaning) => {
      const known = counted.get(key)
      if (known !== undefined) known.count += 1
      else addAll(key, meaning(), 1)
    },
    stop: async () => {
      await reporting.runSoon()
      reporting.stop()
    },
  }
}

/** Writes the head of a chain, if it has moved since, to the log and the file. */
export function openHeads({
  audit,
  log,
  headsFile,
}: Pick<ReportDeps, 'log' | 'headsFile'> & { readonly audit: Pick<AuditLog, 'head'> }) {
  if (headsFile !== undefined) {
    closeToOthers([headsFile], log)
    makePrivateFile(headsFile)
  }
  let last: AuditHead | undefined
  return {
    /** False if the file could not be written. */
    write: async (): Promise<boolean> => {
      const head = audit.head()
      if (head === undefined || head === last) return true
      const { chain, sequence, digest } = head
      const shown = { chain, sequence: Number(sequence), digest }
      if (headsFile !== undefined) {
        try {
          const line = JSON.stringify({ time: printInstant(systemTime.now()), ...shown })
          await appendFile(headsFile, `${line}\n`, { mode: 0o600, flush: true })
        } catch (error) {
          log.error({ err: error }, 'the file of audit heads cannot be written')
          return false
        }
      }
      log.info(shown, 'audit head')
      last = head
      return true
    },
  }
}

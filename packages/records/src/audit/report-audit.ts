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
  /** Chains whose heads one report has, some 150 bytes each. A command has a chain of its own. */
  auditHeadsMax: 1000,
  /** How far the clocks of the processes that write the log may differ. */
  auditHeadsOverlapMs: 600_000,
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
  /** Whether every level of the log has the heads. */
  readonly alwaysShowsHeads: boolean
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
  let headsReadAt = since
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
  // A program that embeds the service in silence has no line.
  const isForced = deps.alwaysShowsHeads && log.level !== 'silent'
  const headLog = isForced ? log.child({}, { level: 'info' }) : log
  const heads = openHeads({ ...deps, log: headLog })
  let hasReported = false
  let isEnding = false
  // One that ends in its first minute, as a failed start does, leaves other chains to the next.
  const readHeads = async (since: bigint) => {
    if (isEnding && !hasReported) return []
    // One more tells whether there are further ones.
    const all = await audit.heads(since, limits.auditHeadsMax + 1)
    if (all.length > limits.auditHeadsMax) {
      const shown = limits.auditHeadsMax
      log.warn({ shown }, 'more audit chains have moved than have their heads shown')
    }
    return all
  }
  const report = async (): Promise<Ran> => {
    const isWritten = await writeCounts()
    const [now, own] = [clock(), audit.head()]
    const headsSince = headsReadAt - BigInt(limits.auditHeadsOverlapMs) * 1000n
    const all = await readHeads(headsSince).catch((error: unknown) => {
      log.warn({ err: error }, 'heads of the audit log could not be read yet')
      return undefined
    })
    const isShown = await heads.write([...(own ? [own] : []), ...(all ?? [])])
    if (all !== undefined && isShown) headsReadAt = now
    hasReported = true
    return { isFailed: !(isWritten && isShown && all !== undefined) }
  }
  const reporting = background.start('report-audit', report)
  return {
    add: (key, meaning) => {
      const known = counted.get(key)
      if (known !== undefined) known.count += 1
      else addAll(key, meaning(), 1)
    },
    stop: async () => {
      isEnding = true
      await reporting.runSoon()
      reporting.stop()
    },
  }
}

/** Writes the heads of chains that have moved since, to the log and the file. */
export function openHeads({ log, headsFile }: Pick<ReportDeps, 'log' | 'headsFile'>) {
  if (headsFile !== undefined) {
    closeToOthers([headsFile], log)
    makePrivateFile(headsFile)
  }
  let last: ReadonlyMap<string, AuditHead> = new Map()
  return {
    /** Of two heads of a chain, the later counts. False if the file could not be written. */
    write: async (heads: readonly AuditHead[]): Promise<boolean> => {
      const current = new Map(heads.map((head) => [head.chain, head]))
      const moved = [...current.values()].filter(
        ({ chain, sequence }) => last.get(chain)?.sequence !== sequence,
      )
      const shown = moved.map(({ chain, sequence, digest }) => ({
        chain,
        sequence: Number(sequence),
        digest,
      }))
      if (headsFile !== undefined && shown.length > 0) {
        try {
          const time = printInstant(systemTime.now())
          const lines = shown.map((head) => `${JSON.stringify({ time, ...head })}\n`)
          await appendFile(headsFile, lines.join(''), { mode: 0o600, flush: true })
        } catch (error) {
          log.error({ err: error }, 'the file of audit heads cannot be written')
          return false
        }
      }
      for (const head of shown) log.info(head, 'audit head')
      last = current
      return true
    },
  }
}

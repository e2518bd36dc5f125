import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { ConfigError, counted, limitsOf, version } from '@bursar/base'
import type { AuditEntry } from '@bursar/contract'
import type { AuditDeps, AuditHead, AuditLine, AuditLog } from '../audit.ts'
import { openBatchQueue } from '../batch-queue.ts'
import type { NamedRow } from '../row.ts'
import { NothingChanged, StoreUnavailable } from '../unavailable.ts'
import { readHead } from './audit-statements.ts'
import { linkLines } from './chain.ts'
import { joinEntries } from './join-entries.ts'

const limits = limitsOf({
  /** Entries of the audit log that share a commit, and that may wait for it. */
  auditEntriesPerCommitMax: 500,
  auditEntriesWaitingMax: 5000,
})

/** What an adapter gives the writer of the audit log. */
export type AuditSessions = {
  /**
   * Stores the lines in a commit that is on disk, by a deadline of `Time.elapsedMs`. Resolves with
   * how many of them the store has: a trigger or a rule may drop one without an error.
   */
  readonly append: (lines: readonly AuditLine[], deadline: number) => Promise<number>
  readonly heads: (since: bigint, chainsMax: number) => Promise<readonly NamedRow[]>
  /** The time that an entry may take, and the part of it that may pass before its commit. */
  readonly withinMs: number
  readonly waitMs: number
}

/**
 * Writes entries in batches, so that requests share commits. The chain goes on only with a commit:
 * an entry that was not stored leaves no gap. A commit whose outcome is unknown may have stored
 * lines, so a new chain begins.
 */
export function openAudit(sessions: AuditSessions, { clock, key, metrics }: AuditDeps): AuditLog {
  const { append, withinMs, waitMs } = sessions
  let chain: AuditHead = newChain()
  let written: AuditHead | undefined
  let depth = 0
  const enqueue = openBatchQueue<AuditEntry, void>({
    name: 'audit entries',
    metrics,
    run: async (batch, oldestRequestedAt) => {
      const opening = chain.sequence === 0n ? [openingEntry()] : []
      const entries = [...opening, ...joinEntries(batch.map(({ request }) => request))]
      const bodies = entries.map((entry) => JSON.stringify(entry))
      const { lines, head } = linkLines(chain, bodies, key(), clock())
      try {
        const stored = await append(lines, oldestRequestedAt + withinMs)
        if (stored !== lines.length) {
          throw new StoreUnavailable(
            `the audit log has stored ${stored} of ${counted(lines.length, 'line')}; look for triggers and rules of its table`,
          )
        }
      } catch (error) {
        if (error instanceof NothingChanged) throw error
        chain = newChain()
        if (error instanceof StoreUnavailable) throw error
        const reason =
          error instanceof ConfigError ? error.message : 'the audit log cannot be written'
        throw new StoreUnavailable(reason, { cause: error })
      }
      chain = head
      written = head
      for (const { result } of batch) result.resolve()
    },
    weightMax: limits.auditEntriesPerCommitMax,
    // Each line has the digest of the one before.
    runningMax: 1,
    startsFullBatches: false,
    waitingMax: limits.auditEntriesWaitingMax,
    waitMs,
  })
  return {
    write: (entry) => {
      depth += 1
      return enqueue(entry).finally(() => {
        depth -= 1
      })
    },
    depth: () => depth,
    head: () => written,
    heads: async (since, chainsMax) => (await sessions.heads(since, chainsMax)).map(readHead),
    close: async () => {},
  }
}

const newChain = (): AuditHead => ({ chain: randomUUID(), sequence: 0n, digest: '' })

function openingEntry(): AuditEntry {
  const writer = { version, host: hostname(), process_id: process.pid }
  return { action: 'open_log', actor: { type: 'program' }, outcome: 'done', writer }
}

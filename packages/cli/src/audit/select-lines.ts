import { limitsOf, systemTime } from '@bursar/base'
import type { AuditEntry } from '@bursar/contract'
import { type AuditLine, type AuditPart, type AuditReader, recordsLimits } from '@bursar/records'
import { parseEntry } from './parse-entry.ts'

const limits = limitsOf({
  /** How often `audit --follow` looks, and how late a line may come: its deadline, and skew. */
  auditFollowMs: 1000,
  auditLateMs: 30_000,
})

/** What of the log is shown. */
export type AuditFilter = Pick<AuditPart, 'since' | 'until'> & {
  /** A client, a user of the operating system, or the subject of a person. */
  readonly actor: string | undefined
  readonly action: string | undefined
  readonly customer: string | undefined
}

/** A line, and its entry if it has a legal one. */
export type Selected = { readonly line: AuditLine; readonly entry: AuditEntry | undefined }

/** The lines that match, in the order of their times. Holds one page of them. */
export async function* selectLines(
  reader: AuditReader,
  filter: AuditFilter,
  newestFirst = false,
): AsyncIterable<Selected> {
  const { since, until } = filter
  let after: AuditPart['after']
  for (;;) {
    const part = { since, until, after, newestFirst, linesMax: recordsLimits.auditPageLines }
    const page = await reader.lines(part)
    for (const line of page) {
      const selected = { line, entry: parseEntry(line) }
      if (isSelected(selected, filter)) yield selected
    }
    after = page.at(-1)
    if (page.length < recordsLimits.auditPageLines) return
  }
}

/** The newest lines that match, the oldest of them first. */
export async function newestLines(
  reader: AuditReader,
  filter: AuditFilter,
  linesMax: number,
): Promise<readonly Selected[]> {
  const found: Selected[] = []
  for await (const selected of selectLines(reader, filter, true)) {
    found.push(selected)
    if (found.length === linesMax) break
  }
  return found.toReversed()
}

/** The lines that are stored from now on. */
export type Following = {
  /** Leaves out a line that is shown already. */
  shown(selected: Selected): void
  /** The lines that match, until it is aborted. */
  lines(signal: AbortSignal): AsyncIterable<Selected>
}

/**
 * Looks for new lines again and again. A line may be stored some time after its own time, so each
 * look goes back by as much, and leaves out what was seen.
 */
export async function openFollowing(reader: AuditReader, filter: AuditFilter): Promise<Following> {
  const seen = new Map<string, bigint>()
  const late = BigInt(limits.auditLateMs) * 1000n
  const lookFrom = () => systemTime.now() - late
  const everything = { ...filter, actor: undefined, action: undefined, customer: undefined }
  const isNew = ({ line: { chain, sequence, at } }: Selected): boolean => {
    const key = `${chain} ${sequence}`
    const isKnown = seen.has(key)
    seen.set(key, at)
    return !isKnown
  }
  async function* unseen(since: bigint): AsyncIterable<Selected> {
    for await (const selected of selectLines(reader, { ...everything, since })) {
      if (isNew(selected) && isSelected(selected, filter)) yield selected
    }
  }
  let since = lookFrom()
  for await (const selected of unseen(since)) isNew(selected)
  return {
    shown: (selected) => void isNew(selected),
    lines: async function* (signal) {
      while (!signal.aborted) {
        const next = lookFrom()
        yield* unseen(since)
        since = next
        for (const [key, at] of seen) if (at < since) seen.delete(key)
        await systemTime.pause(limits.auditFollowMs, signal).catch(() => {})
      }
    },
  }
}

function isSelected({ entry }: Selected, { actor, action, customer }: AuditFilter): boolean {
  // A line without a legal entry was not written by the program, so no filter hides it.
  if (entry === undefined) return true
  if (action !== undefined && entry.action !== action) return false
  if (actor !== undefined && !namesOf(entry).includes(actor)) return false
  return customer === undefined || customersOf(entry).includes(customer)
}

function namesOf({ actor }: AuditEntry): readonly (string | undefined)[] {
  if (actor.type === 'client') return [actor.id]
  if (actor.type === 'person') return [actor.subject]
  return actor.type === 'os_user' ? [actor.name, actor.sudo_user] : [actor.type]
}

const customersOf = ({ customer, customers = [], command }: AuditEntry) => [
  customer,
  ...customers,
  command?.options['--customer'],
]

import type { Answer, AuditActor, AuditEntry, Request, Trace } from '@bursar/contract'
import type { AuditCounts, AuditLog } from '@bursar/records'

/**
 * Writes what the audit log must have of an answer, before its first byte: a caller that leaves in
 * the middle has seen some of it. Undefined where nothing is to be awaited, as for nearly all.
 */
export type AuditAnswer = (request: Request, answer: Answer) => Promise<void> | undefined

type AnswerAudit = {
  readonly audit: Pick<AuditLog, 'write'>
  readonly counts: AuditCounts
  /** The operations that show records, in part, and have no deed for that. */
  readonly reads: ReadonlySet<string>
  /** Whether each such read has an entry of its own. */
  readonly listsReads: boolean
}

export function openAnswerAudit(deps: AnswerAudit): AuditAnswer {
  const { audit, counts, reads, listsReads } = deps
  return (request, { status, deed }) => {
    const { trace } = request
    if (deed !== undefined) {
      const { outcome = 'done' } = deed
      const written = audit.write({ ...deed, ...callOf(trace), ...rowsOf(trace), outcome })
      // The caller of a 503 learns nothing, and its store may not take the entry either.
      return status >= 500 ? written.catch(() => {}) : written
    }
    if (status < 400) {
      if (trace.client === undefined || !reads.has(trace.operation ?? '')) return undefined
      if (listsReads) return audit.write(readEntry(request))
      const { client, operation } = trace
      counts.add(`read ${operation} ${client}`, () => readMeaning(trace))
      return undefined
    }
    countRefusal(counts, trace, status)
    return undefined
  }
}

const actorOf = ({ client = '', person }: Trace): AuditActor =>
  person === undefined ? { type: 'client', id: client } : { type: 'person', ...person }

const callOf = (trace: Trace) => ({
  actor: actorOf(trace),
  ...(trace.operation !== undefined && { operation: trace.operation }),
})

const rowsOf = ({ rows }: Trace) => (rows === undefined ? {} : { rows })

const readMeaning = (trace: Trace): AuditEntry => ({
  action: 'count_reads',
  ...callOf(trace),
  outcome: 'done',
  ...(trace.customer !== undefined && { customer: trace.customer }),
})

function readEntry({ trace, parameters }: Request): AuditEntry {
  const { id, customer_id: customer } = parameters
  // Of a customer without records the name may be any text of the caller.
  const named = customer === undefined || !trace.rows ? {} : { customer }
  const ids = id === undefined ? {} : { ids: [id.toLowerCase()] }
  return { ...named, ...readMeaning(trace), action: 'read', ...ids, ...rowsOf(trace) }
}

/** Refusals are counted, since any caller can cause hundreds a second. */
function countRefusal(counts: AuditCounts, trace: Trace, status: number): void {
  if (status === 403 && trace.client !== undefined) {
    const { client, operation } = trace
    counts.add(`refuse ${operation} ${client}`, () => ({
      action: 'refuse',
      ...callOf(trace),
      outcome: 'refused',
    }))
    return
  }
  if (status === 429 && trace.client !== undefined) {
    counts.add(`limit ${trace.client}`, () => ({
      action: 'limit',
      actor: actorOf(trace),
      outcome: 'refused',
    }))
    return
  }
  const reason = strangerReason(trace, status)
  if (reason === undefined) return
  counts.add(`stranger ${reason}`, () => ({
    action: 'refuse_stranger',
    actor: { type: 'stranger' },
    outcome: 'refused',
    reason,
  }))
}

/** One of a closed list, since a stranger may send any request. */
function strangerReason({ refusal, operation = '' }: Trace, status: number): string | undefined {
  const isForToken = operation.startsWith('/oauth2/')
  if (status === 401) return isForToken ? 'client authentication' : (refusal ?? 'no valid header')
  if (!isForToken) return undefined
  if (status === 429) return 'too many attempts'
  return status === 400 ? 'malformed request for a token' : undefined
}

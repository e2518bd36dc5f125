import { attempt } from '../values/attempt.ts'
import type { Deed } from './audit-entry.ts'
import type { OperatorPrincipal } from './principal.ts'
import { problem } from './problem.ts'
import type { Request, Trace } from './request.ts'

type Accessed = Pick<Deed, 'kind' | 'ids' | 'customer'>

type Accessing = {
  readonly caller: OperatorPrincipal
  readonly headers: Request['headers']
  readonly trace: Trace
}

/** Whether the caller may see records in full here. A person must also give a reason. */
export function seesInFull({ caller, headers }: Omit<Accessing, 'trace'>): boolean {
  if (!caller.scopes.has('ingest:read_record')) return false
  return caller.person === undefined || headers[reasonHeader] !== undefined
}

/** Throws unless the caller may see records in full. Notes what the audit log must have. */
export function noteFullView({ caller, headers, trace }: Accessing, accessed: Accessed): void {
  if (!caller.scopes.has('ingest:read_record')) {
    throw problem('forbidden', 'the full view requires the scope ingest:read_record too')
  }
  const reason = caller.person === undefined ? undefined : readReason(headers[reasonHeader])
  const stated = reason === undefined ? {} : { reason }
  trace.deed = { action: 'view_in_full', ...accessed, view: 'full', ...stated }
}

/** Notes whose record is shown in full, once it was found. */
export function noteOwner(trace: Trace, customer: string): void {
  if (trace.deed?.view === 'full') trace.deed = { ...trace.deed, customer }
}

/** Throws unless the caller may export lists. Notes what the audit log must have. */
export function noteExport({ caller, trace }: Accessing, accessed: Accessed): void {
  if (!caller.scopes.has('ingest:export')) {
    throw problem('forbidden', 'purpose=export requires the scope ingest:export too')
  }
  const full = trace.deed ?? { view: 'customer' as const }
  trace.deed = { ...full, action: 'export', ...accessed }
}

const reasonHeader = 'access-reason'
const REASON_LENGTH_MAX = 200

/** Also what shows as nothing at all, such as a Hangul filler, which Unicode counts as a letter. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
const twoLettersOrDigits = /[\p{L}\p{Nd}].*[\p{L}\p{Nd}]/u
/** Digits of any script, whatever but letters is between them. */
const longNumber = /(\p{Nd}[^\p{L}\p{Nd}]*){6}/u

/** The audit log keeps the reason, so it must not hold an account number or control characters. */
function readReason(given: string | string[] | undefined): string {
  const reason = typeof given === 'string' ? attempt(() => decodeURIComponent(given)) : ''
  if (reason?.trim() === '') {
    throw problem('malformed', 'a person must give a reason in the header Access-Reason')
  }
  if (reason === undefined || reason.length > REASON_LENGTH_MAX || unprintable.test(reason)) {
    throw problem(
      'malformed',
      `Access-Reason must be percent-encoded text of at most ${REASON_LENGTH_MAX} characters`,
    )
  }
  if (!twoLettersOrDigits.test(reason)) {
    throw problem('malformed', 'Access-Reason must say why, with at least two letters or digits')
  }
  if (longNumber.test(reason)) {
    throw problem('malformed', 'Access-Reason must not hold a number of six digits or more')
  }
  return reason
}

import { attempt } from '@bursar/base'
import type { Deed } from './audit-entry.ts'
import type { OperatorPrincipal } from './principal.ts'
import { problem } from './problem.ts'
import type { Request } from './request.ts'

type Accessed = Pick<Deed, 'kind' | 'ids' | 'customer'>

type Accessing = {
  readonly caller: OperatorPrincipal
  readonly headers: Request['headers']
}

/** Whether the caller may see records in full here. A person must also give a reason. */
export function seesInFull({ caller, headers }: Accessing): boolean {
  if (!caller.scopes.has('ingest:read_record')) return false
  return caller.person === undefined || headers[reasonHeader] !== undefined
}

/** The deed of showing records in full. Throws unless the caller may. */
export function fullView({ caller, headers }: Accessing, accessed: Accessed): Deed {
  if (!caller.scopes.has('ingest:read_record')) {
    throw problem('forbidden', 'the full view requires the scope ingest:read_record too')
  }
  const reason = caller.person === undefined ? undefined : readReason(headers[reasonHeader])
  const stated = reason === undefined ? {} : { reason }
  return { action: 'view_in_full', ...accessed, view: 'full', ...stated }
}

/** The deed of exporting a list, which may show it in full. Throws unless the caller may. */
export function exporting({ caller }: Accessing, accessed: Accessed, full?: Deed): Deed {
  if (!caller.scopes.has('ingest:export')) {
    throw problem('forbidden', 'purpose=export requires the scope ingest:export too')
  }
  return { view: 'customer', ...full, action: 'export', ...accessed }
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

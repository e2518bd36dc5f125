import {
  conflictCodes,
  contractLimits,
  type Problem,
  problem,
  type RecordFault,
} from '@bursar/contract'

/** A fault of a record, with the line of a stream where there is one. */
export type HttpFault = RecordFault & { readonly line?: number }

/**
 * The refusal of a record or of a stream of records. The sentence has the first fault,
 * `meta.errors` the first ones. It is a 409 where each of those is a conflict with what is stored.
 * Otherwise it is a 400, since the same request can never succeed. `otherCustomer` is the reason
 * for a record of another customer than the one that the request may write to.
 */
export function refusedRecords(
  faults: readonly HttpFault[],
  otherCustomer: string,
  { faultCount = faults.length, mayHaveMoreFaults = false }: FoundInAll = {},
): Problem {
  const errors = faults
    .slice(0, contractLimits.faultsAnsweredMax)
    .map((fault) => inTermsOfHttp(fault, otherCustomer))
  const [first] = errors
  const place = first?.line === undefined ? '' : `line ${first.line}: `
  const detail = `${place}${first?.member} ${first?.reason}${others(errors.length, faultCount, mayHaveMoreFaults)}`
  const areConflicts = errors.every(({ code }) => Object.hasOwn(conflictCodes, code))
  const meta = { fault_count: faultCount, ...(mayHaveMoreFaults && { more: true }), errors }
  return problem(areConflicts ? 'conflict' : 'malformed', detail, { meta })
}

/** What was found besides the listed faults. */
export type FoundInAll = {
  readonly faultCount?: number
  /** Whether the search ended before all faults were found. */
  readonly mayHaveMoreFaults?: boolean
}

function others(shown: number, faultCount: number, mayHaveMore: boolean): string {
  if (mayHaveMore) return `; meta.errors has the first ${shown} faults, and there may be more`
  if (faultCount <= 1) return ''
  return shown === faultCount
    ? `; meta.errors has all ${faultCount} faults`
    : `; meta.errors has the first ${shown} of ${faultCount} faults`
}

/** The importer's reasons name options of the command line, and a file. */
function inTermsOfHttp({ line, member, code, reason }: HttpFault, otherCustomer: string) {
  const reasons: Partial<Record<RecordFault['code'], string>> = {
    older: 'is older than what is stored; allow_older=true takes it all the same',
    other_customer: otherCustomer,
  }
  return {
    // The stream as a whole has no line.
    ...(line !== undefined && line > 0 && { line }),
    member: member === 'file' ? 'body' : member,
    code,
    reason:
      reasons[code] ?? reason.replace('; --take-over withdraws', '; take_over=true withdraws'),
  }
}

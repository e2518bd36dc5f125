import { Problem } from '../contract/problem.ts'
import type { RecordFault } from '../contract/resource.ts'
import { limits } from '../platform/limits.ts'

/** A fault of a record, with the line of a stream where there is one. */
type Fault = RecordFault & { readonly line?: number }

/** A refused record or stream. The sentence has the first fault, `meta.faults` the first ones. */
export function refused(
  status: 400 | 409,
  faults: readonly Fault[],
  faultCount: number = faults.length,
): Problem {
  const told = faults.slice(0, limits.faultsAnsweredMax).map(inTermsOfHttp)
  const [first] = told
  const others = faultCount > 1 ? `; there are ${faultCount} faults, see meta.faults` : ''
  const place = first?.line === undefined ? '' : `line ${first.line}: `
  const detail = `${place}${first?.member} ${first?.reason}${others}`
  return new Problem(status, detail, { meta: { fault_count: faultCount, faults: told } })
}

/** The importer's reasons name options of the command line, and a file. */
const inTermsOfHttp = ({ line, member, reason }: Fault): Fault => ({
  // The stream as a whole has no line.
  ...(line !== undefined && line > 0 && { line }),
  member: member === 'file' ? 'body' : member,
  reason: reason
    .replace('--allow-older takes', 'allow_older=true takes')
    .replace('that --customer names', 'that the client is bound to'),
})

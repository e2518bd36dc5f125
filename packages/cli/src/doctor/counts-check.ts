import { type Check, commandHint, counted, type Finding, printable, systemTime } from '@bursar/base'
import { type OperatorRecords, recordsLimits, type WrongCount } from '@bursar/records'
import { cliLimits } from '../limits.ts'
import type { UsingRecords } from './using-records.ts'

type CountsDeps = {
  readonly using: UsingRecords<{ readonly records: Pick<OperatorRecords, 'customers'> }>
}

/**
 * Compares the counts that the store keeps of each customer with its records: of as many customers
 * as there is time for, and of kinds with fewer records than a bound.
 */
export const countsCheck = ({ using }: CountsDeps): Check => ({
  name: 'counts',
  find: () =>
    using(async (parts) => {
      if (parts === undefined) return []
      const { customers } = parts.records
      const deadline = systemTime.elapsedMs() + cliLimits.doctorCountsMs
      const wrong: WrongCount[] = []
      let after: bigint | undefined
      do {
        const compared = await customers.compareCounts(after, recordsLimits.comparedRecordsMax)
        wrong.push(...compared.wrong)
        after = compared.next
      } while (after !== undefined && systemTime.elapsedMs() < deadline)
      return findingsOf(wrong)
    }),
})

function findingsOf(wrong: readonly WrongCount[]): readonly Finding[] {
  const [first] = wrong
  if (first === undefined) return []
  const { customerId, kind, kept, counted: records } = first
  return [
    {
      what: `${counted(wrong.length, 'kept count')} of records ${wrong.length === 1 ? 'is' : 'are'} wrong, such as ${kept} of ${kind} of ${printable(customerId)}, which has ${records}`,
      why: 'the list of customers shows them; no list of records is concerned',
      fix: `run ${commandHint('migrate --check')}, which says whether records are damaged, then ${commandHint('customer recount')}`,
    },
  ]
}

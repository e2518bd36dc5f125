import { type Check, counted, type Finding, printable, systemTime } from '@bursar/base'
import { type HeldFault, type OperatorRecords, recordsLimits } from '@bursar/records'
import { cliLimits } from '../limits.ts'
import type { UsingRecords } from './using-records.ts'

type HeldDeps = {
  readonly using: UsingRecords<{ readonly records: Pick<OperatorRecords, 'compareHeld'> }>
}

/** Compares the records with who holds their values, for as long as there is time. */
export const heldCheck = ({ using }: HeldDeps): Check => ({
  name: 'held',
  find: () =>
    using(async (parts) => {
      const deadline = systemTime.elapsedMs() + cliLimits.doctorCountsMs
      const faults: HeldFault[] = []
      if (parts === undefined) return []
      for await (const found of parts.records.compareHeld()) {
        faults.push(...found.slice(0, recordsLimits.faultsReportedMax - faults.length))
        if (systemTime.elapsedMs() >= deadline || faults.length === recordsLimits.faultsReportedMax)
          break
      }
      return findingsOf(faults)
    }),
})

const findingsOf = (faults: readonly HeldFault[]): readonly Finding[] =>
  ([...Map.groupBy(faults, ({ fault }) => fault)] as const).map(([fault, [first, ...rest]]) => {
    const { kind = '', member = '', customerId = '' } = first ?? {}
    const what = `${counted(rest.length + 1, 'value')} of records ${words[fault]}, such as ${member} of ${kind} of ${printable(customerId)}`
    return { what, ...advice[fault] }
  })

const words = { 'not held': 'not held by anybody', 'without a record': 'held without a record' }

const advice = {
  'not held': {
    why: 'a record of another customer may get the same id, memo or address',
    fix: 'PUT the records of that customer again as they are',
  },
  'without a record': {
    why: 'no other customer can have the id, memo or address',
    fix: 'store it for the customer whose it is, with --take-over or take_over=true',
  },
} as const

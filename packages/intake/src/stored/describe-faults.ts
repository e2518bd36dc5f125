import { printable } from '@bursar/base'
import { type DerivedFault, type StoreDamaged, shownId } from '@bursar/records'
import type { RecordFaults } from './compare-kind.ts'

export const cannotReadOn = (kind: string, { message }: StoreDamaged): string =>
  `${kind}: the store cannot read on: ${message}`

export const describeDamaged = ({ kind, id, faults }: RecordFaults): string =>
  `${kind} ${shownId(id)}: ${faults.join(', ')}`

/** Whose a value is, or whether a claim is that of a lost record, a person decides. */
export const isUndecided = ({ fault }: DerivedFault): boolean =>
  fault === 'contested' || fault === 'claimed without a record'

/** The faults of one sort, and the others. */
export function split(
  faults: readonly DerivedFault[],
  isFirst: (fault: DerivedFault) => boolean,
): [first: DerivedFault[], others: DerivedFault[]] {
  const parts = Map.groupBy(faults, isFirst)
  return [parts.get(true) ?? [], parts.get(false) ?? []]
}

/** A record may have several terms left over, which are one fault. */
export const describeAll = (faults: readonly DerivedFault[]): readonly string[] => [
  ...new Set(faults.map(describeDerived)),
]

/** Quotes no value: it may be an address. */
function describeDerived(fault: DerivedFault): string {
  const { kind } = fault
  const owner = customer(fault.customerId)
  switch (fault.fault) {
    case 'terms missing':
      return `${kind} ${shownId(fault.id)}: the index lacks terms of it`
    case 'a term left over':
      return `${kind} ${shownId(fault.id)}: the index has a term that is not one of it`
    case 'miscounted':
      return `${owner} has ${fault.counted} ${kind}, where ${fault.kept} are kept`
    case 'claimed without a record':
      return `${kind}: a value of ${fault.member} of ${owner} is claimed, and no record has it`
  }
  const value = `${kind} ${shownId(fault.id)} of ${owner}: its value of ${fault.member} is`
  if (fault.fault === 'unclaimed') return `${value} not claimed, so another customer may get it`
  return fault.holder === undefined
    ? `${value} not claimed, and another customer has it too`
    : `${value} claimed by ${customer(fault.holder)}`
}

const customer = (id: string): string => `customer "${printable(id)}"`

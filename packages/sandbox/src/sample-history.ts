import { type RecordInput, type Resource, resources } from '@bursar/contract'
import { renderRecord } from '@bursar/intake'
import type { PastRecords } from '@bursar/records'
import type { Lives } from './lives.ts'

/** What the operator's system has sent of one kind at a time. */
type Delivery = {
  readonly resource: Resource
  readonly at: bigint
  readonly records: readonly RecordInput[]
}

/** The client of that system, as histories show it. */
export const from = { command: 'POST', clientId: 'core_ledger' } as const

/** The versions of records as that system has sent them, the earliest first. */
export const deliveriesOf = (lives: Lives): Delivery[] =>
  resources
    .flatMap((resource) => {
      const byTime = Map.groupBy(lives[resource.kind].flat(), ({ at }) => at)
      return [...byTime].map(([at, versions]) => ({
        resource,
        at,
        records: versions.map(({ record }) => record),
      }))
    })
    .toSorted((one, other) => Number(one.at - other.at))

export function* historyOf(lives: Lives): Generator<PastRecords> {
  for (const { resource, at, records } of deliveriesOf(lives)) {
    const rendered = records.map((record, place) => renderRecord(resource, record, place + 1))
    yield { resource, at, from, records: rendered }
  }
}

import { type Check, commandHint, counted, type Finding, limitsOf } from '@bursar/base'
import { contractLimits, type Resource } from '@bursar/contract'
import { type OperatorRecords, type RowKey, rowFaults } from '@bursar/records'
import type { UsingRecords } from './using-records.ts'

const limits = limitsOf({
  /** Records of each kind that `doctor` reads and opens: a second or two. */
  doctorBodiesMax: 10_000,
})

type RecordsDeps = {
  readonly resources: readonly Resource[]
  readonly using: UsingRecords<{ readonly records: Pick<OperatorRecords, 'rows'> }>
}

/** Compares the first records of each kind with their checksums. `migrate --check` reads all. */
export const recordsCheck = ({ resources, using }: RecordsDeps): Check => ({
  name: 'records',
  find: () =>
    using(async (parts) => {
      if (parts === undefined) return []
      const faults = new Map<string, number>()
      for (const resource of resources) await countFaults(resource, parts.records, faults)
      return [...faults].map(findingOf)
    }),
})

async function countFaults(
  resource: Resource,
  { rows }: Pick<OperatorRecords, 'rows'>,
  faults: Map<string, number>,
): Promise<void> {
  let key: RowKey | undefined
  for (let read = 0; read < limits.doctorBodiesMax; ) {
    const found = await rows.after(resource, key, contractLimits.checkedRowsMax)
    for (const row of found) {
      const [fault] = rowFaults(resource, row)
      if (fault !== undefined) faults.set(fault, (faults.get(fault) ?? 0) + 1)
    }
    key = found.at(-1)
    read += found.length
    if (key === undefined || found.length < contractLimits.checkedRowsMax) return
  }
}

const findingOf = ([fault, count]: readonly [string, number]): Finding => ({
  what: `${counted(count, 'stored record')} ${count === 1 ? 'is' : 'are'} damaged: ${fault}`,
  why: 'a request for it is answered 503, and a list may show it as it is',
  fix: `run ${commandHint('migrate --check')}, which names every such record; import them again, or restore a backup`,
})

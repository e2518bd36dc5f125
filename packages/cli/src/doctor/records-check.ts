import { type Check, commandHint, counted, type Finding, limitsOf, systemTime } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import { compareKind, describeAll } from '@bursar/intake'
import type { OperatorRecords } from '@bursar/records'
import { cliLimits } from '../limits.ts'
import type { UsingRecords } from './using-records.ts'

const limits = limitsOf({
  /** Records of each kind that `doctor` reads and opens: a second or two. */
  doctorBodiesMax: 10_000,
})

type RecordsDeps = {
  readonly resources: readonly Resource[]
  readonly using: UsingRecords<{ readonly records: Pick<OperatorRecords, 'rows'> }>
}

/**
 * Compares the first records of each kind with what is derived from them, each kind for its part
 * of the time. `reindex` and `migrate --check` read all.
 */
export const recordsCheck = ({ resources, using }: RecordsDeps): Check => ({
  name: 'records',
  find: () =>
    using(async (parts) => {
      if (parts === undefined) return []
      const { rows } = parts.records
      const damaged: string[] = []
      const derived: string[] = []
      for (const resource of resources) {
        let read = 0
        const deadline = systemTime.elapsedMs() + cliLimits.doctorCountsMs / resources.length
        for await (const part of compareKind(resource, rows)) {
          read += part.records
          damaged.push(...part.damaged.flatMap(({ faults }) => faults.slice(0, 1)))
          derived.push(...describeAll(part.derived))
          if (read >= limits.doctorBodiesMax || systemTime.elapsedMs() >= deadline) break
        }
      }
      return [...damagedFindings(damaged), ...derivedFindings(derived)]
    }),
})

/** Differences that `doctor` shows. */
const SHOWN = 10

const damagedFindings = (faults: readonly string[]): readonly Finding[] =>
  [...Map.groupBy(faults, (fault) => fault)].map(([fault, { length }]) => ({
    what: `${counted(length, 'stored record')} ${length === 1 ? 'is' : 'are'} damaged: ${fault}`,
    why: 'a request for it is answered 503, and a list may show it as it is',
    fix: `run ${commandHint('reindex')}, which names every such record, and stores those again whose full record opens with --yes; import the others again, or restore a backup`,
  }))

const derivedFindings = (lines: readonly string[]): readonly Finding[] =>
  lines.length === 0
    ? []
    : [
        {
          what: `${counted(lines.length, 'difference')} between records and what is derived from them, such as: ${lines.slice(0, SHOWN).join('; ')}`,
          why: 'searches, counts and the rules of unique ids, memos and addresses rest on it',
          fix: `run ${commandHint('reindex')}, which lists all of them, then with --yes`,
        },
      ]

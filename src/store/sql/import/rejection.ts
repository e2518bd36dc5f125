import type { RecordFault } from '../../../contract/resource.ts'
import type { RejectedRecord } from '../../records/import.ts'

/** How an import leaves out the records that conflict. It repeats `fill` until none is found. */
export const rejection = {
  create: `create temporary table rejected (
      file integer, line bigint, member text, code text, reason text, raw text)`,
  fill: (queries: readonly string[]) => `
    insert into rejected
    select staged.file, found.line, found.member, found.code, found.reason, staged.raw
    from (${queries.join(' union all ')}) as found
    join staged on staged.line = found.line`,
  select: 'select file, line, member, code, reason, raw from rejected order by line, member',
  remove: 'delete from staged where line in (select line from rejected)',
  empty: 'delete from rejected',
} as const

/** One fault of a record, as `rejection.select` returns it. */
export type RejectedRow = Omit<RejectedRecord, 'faults'> & { readonly fault: RecordFault }

/** Collects the faults of each record from rows in the order of their lines. */
export function rejectedCollector(reject: (rejected: RejectedRecord) => void) {
  let rows: RejectedRow[] = []
  let records = 0
  const end = () => {
    const [first] = rows
    if (first === undefined) return
    records += 1
    const { file, line, raw } = first
    reject({ file, line, raw, faults: rows.map(({ fault }) => fault) })
    rows = []
  }
  return {
    add: (row: RejectedRow) => {
      if (rows[0]?.line !== row.line) end()
      rows.push(row)
    },
    /** Passes on the last record and returns how many there were. */
    end: (): number => {
      end()
      return records
    },
  }
}

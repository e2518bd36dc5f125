import type { RecordFault } from '../../contract/resource.ts'
import type { RejectedRecord } from '../records/import.ts'
import { type NamedRow, text } from '../row.ts'
import type { Session } from '../session.ts'
import { conflictColumns } from './conflict-queries.ts'
import type { ReadConflict } from './find-faults.ts'

type Reject = (rejected: RejectedRecord) => void

/**
 * Leaves out what conflicts, and returns how many records. A record may conflict only once another
 * one is left out, so this repeats until none does.
 */
export async function rejectConflicts(
  session: Session,
  queries: readonly string[],
  read: ReadConflict,
  reject: Reject,
): Promise<number> {
  const fill = `
    insert into rejected
    select staged.file, ${columnsOf('found')}, staged.raw
    from (${queries.join(' union all ')}) as found
    join staged on staged.line = found.line`
  let rejected = 0
  for (let found = -1; found !== 0; rejected += found) {
    await session.run(fill)
    found = await passOn(session, read, reject)
    await session.run(`
      delete from staged where line in (select line from rejected);
      delete from rejected`)
  }
  return rejected
}

const columnsOf = (table: string): string =>
  conflictColumns
    .split(', ')
    .map((column) => `${table}.${column}`)
    .join(', ')

/** Collects the faults of each record, and returns how many records there are. */
async function passOn(session: Session, read: ReadConflict, reject: Reject): Promise<number> {
  let records = 0
  let last: (RejectedRecord & { readonly faults: RecordFault[] }) | undefined
  const statement = {
    text: `select file, ${conflictColumns}, raw from rejected order by line, member`,
  }
  for await (const row of session.iterate(statement)) {
    const fault = read(row)
    if (last?.line === Number(row.line)) {
      last.faults.push(fault)
      continue
    }
    if (last !== undefined) reject(last)
    last = { ...placeOf(row), faults: [fault] }
    records += 1
  }
  if (last !== undefined) reject(last)
  return records
}

const placeOf = (row: NamedRow) => ({
  file: Number(row.file),
  line: Number(row.line),
  raw: text(row, 'raw'),
})

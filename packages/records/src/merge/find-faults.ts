import assert from 'node:assert/strict'
import { printable } from '@bursar/base'
import {
  type RecordFault,
  type RecordFaultCode,
  type Resource,
  recordFaultCodes,
} from '@bursar/contract'
import { recordsLimits } from '../limits.ts'
import {
  type FoundFaults,
  joinFaults,
  type LineName,
  type RejectedRecord,
} from '../records/import.ts'
import { type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'
import type { Session } from '../session.ts'
import { conflictColumns, ownedMembers } from './conflict-queries.ts'

/** Runs conflict queries. Returns the first faults of each, and how many there are. */
export async function findFaults(
  session: Session,
  queries: readonly string[],
  read: ReadConflict,
): Promise<FoundFaults> {
  const found: FoundFaults[] = []
  for (const query of queries) {
    const rows = await session.rows({
      text: `select ${conflictColumns} from (${query}) as found
        order by line limit ${recordsLimits.faultsReportedMax}`,
    })
    const faults = rows.map((row) => ({ line: Number(whole(row, 'line')), ...read(row) }))
    const isCutOff = faults.length === recordsLimits.faultsReportedMax
    found.push({ faults, faultCount: isCutOff ? await count(session, query) : faults.length })
  }
  return joinFaults(found)
}

async function count(session: Session, query: string): Promise<number> {
  const text = `select count(*) as conflicts from (${query}) as found`
  const [row = {}] = await session.rows({ text })
  return Number(whole(row, 'conflicts'))
}

type Reject = (rejected: RejectedRecord) => void

/**
 * Leaves out what conflicts, and returns how many records. A record may conflict only once another
 * one is left out, so this repeats until none does.
 */
export async function rejectConflicts(
  session: Session,
  queries: readonly string[],
  read: ReadConflict,
  { leaveOut, reject }: { readonly leaveOut: readonly string[]; readonly reject: Reject },
): Promise<number> {
  const fill = `
    insert into rejected
    select staged.file, found.*, staged.raw
    from (${queries.join(' union all ')}) as found
    join staged on staged.line = found.line`
  let rejected = 0
  for (let found = -1; found !== 0; rejected += found) {
    await session.run(fill)
    found = await passOn(session, read, reject)
    if (found > 0) for (const text of leaveOut) await session.run(text)
    await session.run('delete from rejected')
  }
  return rejected
}

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

export type ReadConflict = (row: NamedRow) => RecordFault

/** Reads a row of a conflict query as a fault. */
export const conflictReader =
  (resource: Resource, nameLine: LineName): ReadConflict =>
  (row) => {
    const [member, code] = [text(row, 'member'), text(row, 'code')]
    assert(isCode(code), `a conflict query has the code ${code}`)
    return { member, code, reason: reasonOf(resource, { member, code, row, nameLine }) }
  }

const isCode = (name: string): name is RecordFaultCode => Object.hasOwn(recordFaultCodes, name)

type Found = {
  readonly member: string
  readonly code: RecordFaultCode
  readonly row: NamedRow
  readonly nameLine: LineName
}

function reasonOf(resource: Resource, { member, code, row, nameLine }: Found): string {
  const { noun } = resource
  const isOwned = member === ownedMembers(resource)
  switch (code) {
    case 'repeated': {
      const line = nameLine(Number(optionalWhole(row, 'other_line') ?? 0n))
      const owner = isOwned ? `another customer's record${placeOn(row)}` : 'another record'
      return `stands in ${line} too, ${member === 'id' ? 'with other content' : `in ${owner}`}`
    }
    case 'held': {
      const verb = isOwned ? 'are' : 'is'
      const holder = optionalText(row, 'holder') ?? '(lost)'
      const customer = `customer "${text(row, 'holder_customer')}"`
      return `${verb} held by the ${noun} ${holder} of ${customer}${placeOn(row)}; --take-over withdraws that record`
    }
    case 'taken':
      return `is already the ${member} of another ${noun} of this customer`
    case 'fixed':
      return 'must stay as it was first stored'
    default:
      assert.equal(code, 'older')
      return 'is older than what is stored; --allow-older takes it all the same'
  }
}

/** The value, and the networks on which it conflicts, where none is that of the line. */
function placeOn(row: NamedRow): string {
  const networks = optionalText(row, 'networks')
  if (networks === undefined) return ''
  const names = [...new Set(networks.split(' '))].toSorted()
  return ` (${printable(text(row, 'value'))} on ${names.join(', ')})`
}

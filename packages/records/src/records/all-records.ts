import type { Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { MASKED_MISSING, unpairedQuery } from '../integrity/stored-rows.ts'
import { text, whole } from '../row.ts'
import { customerNumber } from '../schema/customers.ts'
import {
  heldTable,
  historyTables,
  isCurrent,
  nameTables,
  recordTables,
  termTable,
} from '../schema/tables.ts'
import type { Seals } from '../sealing/seals.ts'
import type { Reads, Session, Transact } from '../session.ts'
import { exportLine, readStoredRecord, storedRecords, unexportable } from './stored-record.ts'

/**
 * All records of a kind, or those of one customer, by customer and then in list order. Throws a
 * StoreDamaged at the first damaged record, and for one whose masked record is missing, which the
 * export would leave out.
 */
export async function* exportLines(
  { rows, iterate }: Pick<Session, 'rows' | 'iterate'>,
  { dialect, seals }: { readonly dialect: Dialect; readonly seals: Pick<Seals, 'open'> },
  resource: Resource,
  customerId: string | undefined,
): AsyncIterable<string> {
  const values = customerId === undefined ? [] : [customerId]
  const ofCustomer = (row: string) =>
    customerId === undefined
      ? ''
      : `and ${row}.customer = ${customerNumber(dialect, dialect.parameter(1, 'text'))}`
  if (resource.mask !== undefined) {
    const [unlisted] = await rows({
      text: `${unpairedQuery(resource, dialect)} ${ofCustomer('unmasked')} limit 1`,
      values,
    })
    if (unlisted !== undefined) {
      throw unexportable(resource.kind, text(unlisted, 'id'), MASKED_MISSING)
    }
  }
  const stored = iterate({
    text: `
      ${storedRecords(resource, dialect)}
      where ${isCurrent(resource, 'record')} ${ofCustomer('record')}
      order by record.customer, record.deleted, record.position`,
    values,
  })
  for await (const row of stored) yield await exportLine(resource, readStoredRecord(row), seals)
}

export async function countRecords(
  { rows }: Reads,
  { tableName }: Dialect,
  resource: Resource,
): Promise<number> {
  const [row = {}] = await rows({
    text: `select count(*) as records from ${tableName(resource.table)} as record
      where ${isCurrent(resource, 'record')}`,
  })
  return Number(whole(row, 'records'))
}

/** Deletes every record, every version and the rows of other tables. */
export const clearRecords = (
  transact: Transact,
  { tableName }: Dialect,
  others: readonly string[],
): Promise<void> =>
  transact(async ({ run }) => {
    for (const table of [
      ...recordTables,
      ...historyTables,
      ...nameTables,
      termTable,
      heldTable,
      ...others,
    ]) {
      await run(`delete from ${tableName(table)}`)
    }
    // The next page of each kind must not have the entity tag of a page from before.
    await run(`update ${tableName('revision')} set changed_at = changed_at + 1, live = 0`)
  })

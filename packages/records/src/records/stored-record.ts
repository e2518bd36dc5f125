import { hash } from 'node:crypto'
import { printInstant } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { shownId } from '../integrity/stored-rows.ts'
import { bytes, isTrue, type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'
import { customerId, customerNumber } from '../schema/customers.ts'
import { fullOfRecord, versionMark } from '../schema/tables.ts'
import type { Seals } from '../sealing/seals.ts'
import { StoreDamaged } from '../unavailable.ts'

/** A stored record as export reads it. Times are in microseconds. */
export type StoredRecord = {
  readonly customerId: string
  readonly id: string
  /** The unmasked record; null where its row is missing. */
  readonly body: string | null
  readonly checksum: number | null
  readonly deletedAt: bigint | null
  /** Whether another customer's record has its id now. */
  readonly idTaken: boolean
  readonly sourceVersion: bigint | null
  readonly storedAt: bigint
}

/** Selects the records with some ids of their customers: `keys` has `customer_id` and `id`. */
export function findQuery(resource: Resource, dialect: Dialect, keys: string): string {
  const index = dialect.indexedBy(`${resource.table}_by_id`)
  const tables = { before: `${keys} cross join`, index }
  return `
    ${storedRecords(resource, dialect, tables, `, ${versionSecret(dialect, 'record.customer')}`)}
    where record.customer = ${customerNumber(dialect, 'key.customer_id')}
      and ${dialect.listedId.is('record', 'key.id')}`
}

/** Selects records as export reads them: `record`, and its unmasked form as `unmasked`. */
export function storedRecords(
  resource: Resource,
  dialect: Dialect,
  tables = { before: '', index: '' },
  columns = '',
): string {
  const { tableName, listedId } = dialect
  const { row, join } = fullOfRecord(resource, dialect)
  return `
    select ${customerId(dialect, 'record.customer')} as customer_id,
      ${listedId.of('record')} as id, ${row}.body as body, ${row}.checksum as checksum,
      ${versionMark(resource, row)} as version_mark, record.deleted_at, record.id_taken, record.source_version, record.stored_at
      ${columns}
    from ${tables.before} ${tableName(resource.table)} as record ${tables.index} ${join}`
}

/** Reads a row of these queries. */
export const readStoredRecord = (row: NamedRow): StoredRecord => ({
  customerId: text(row, 'customer_id'),
  id: text(row, 'id'),
  body: optionalText(row, 'body') ?? null,
  checksum: row.checksum === null ? null : Number(whole(row, 'checksum')),
  deletedAt: optionalWhole(row, 'deleted_at') ?? null,
  idTaken: isTrue(row.id_taken),
  sourceVersion: optionalWhole(row, 'source_version') ?? null,
  storedAt: whole(row, 'stored_at'),
})

/** What `versionOf` needs of a customer, by an expression of its number. */
export const versionSecret = ({ tableName }: Pick<Dialect, 'tableName'>, number: string): string =>
  `(select event_secret from ${tableName('customer')} where number = ${number}) as event_secret`

/** The version of a record that is current; undefined for one that is withdrawn. */
export function currentVersionOf({ deletable }: Resource, row: NamedRow): string | undefined {
  const isWithdrawn = !deletable && optionalWhole(row, 'deleted_at') !== undefined
  return isTrue(row.id_taken) || isWithdrawn ? undefined : versionOf(row)
}

/**
 * Names one version of a record, on every process: the time of the merge that stored it, and what
 * it stored. A merge is later than every one before it of that customer and kind. But a restore, or
 * a fail-over that has lost changes, may give its time to another content. The digest needs a
 * secret of the customer: a client that may only write could else find by trying what it cannot
 * read.
 */
export function versionOf(row: NamedRow): string {
  const columns = ['stored_at', 'version_mark', 'deleted_at', 'source_version']
  const content = columns.map((column) => optionalWhole(row, column) ?? '').join(' ')
  const named = Buffer.from(`version ${text(row, 'id')} ${content}`)
  const secret = bytes(row, 'event_secret')
  return hash('sha256', Buffer.concat([secret, named]), 'hex').slice(0, VERSION_DIGITS)
}

const VERSION_DIGITS = 32

/**
 * One line of JSON that import accepts: the unmasked record with its withheld members. Rejects with
 * a StoreDamaged for a record that is not as it was imported, because an import would take it.
 */
export async function exportLine(
  resource: Resource,
  record: StoredRecord,
  { open }: Pick<Seals, 'open'>,
): Promise<string> {
  const { kind } = resource
  const { customerId, id, body: stored, checksum } = record
  if (stored === null || checksum === null) {
    throw unexportable(kind, id, 'the full record is missing')
  }
  const opened = await open(resource, { customerId, id, body: stored, checksum })
  if ('fault' in opened) throw unexportable(kind, id, opened.fault)
  const { body } = opened
  const withheld = {
    customer_id: customerId,
    deleted_at: record.deletedAt === null ? null : printInstant(record.deletedAt),
    source_version: record.sourceVersion === null ? null : Number(record.sourceVersion),
  }
  const pairs = Object.entries(withheld)
    .filter(([member, value]) => value !== null && resource.withheldMembers.includes(member))
    .map(([member, value]) => `,${JSON.stringify(member)}:${JSON.stringify(value)}`)
  return `${body.slice(0, -1)}${pairs.join('')}}`
}

export const unexportable = (kind: string, id: string, fault: string) =>
  new StoreDamaged(
    `${kind} ${shownId(id)}: ${fault}; the export is incomplete; import this record again or restore a backup`,
  )

import type { Resource } from '../../contract/resource.ts'
import { printInstant } from '../../values/instant.ts'
import type { Dialect } from '../dialect.ts'
import { shownId } from '../integrity/stored-rows.ts'
import { isTrue, type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'
import { customerId, customerNumber } from '../schema/customers.ts'
import { fullOfRecord } from '../schema/tables.ts'
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
export const findQuery = (resource: Resource, dialect: Dialect, keys: string): string => `
    ${storedRecords(resource, dialect, `${keys} cross join`, dialect.indexedBy(`${resource.table}_by_id`))}
    where record.customer = ${customerNumber(dialect, 'key.customer_id')}
      and ${dialect.listedId.is('record', 'key.id')}`

/** Selects records as export reads them: `record`, and its unmasked form as `unmasked`. */
export function storedRecords(resource: Resource, dialect: Dialect, keys = '', index = ''): string {
  const { tableName, listedId } = dialect
  const { row, join } = fullOfRecord(resource, dialect)
  return `
    select ${customerId(dialect, 'record.customer')} as customer_id,
      ${listedId.of('record')} as id, ${row}.body as body, ${row}.checksum as checksum,
      record.deleted_at, record.id_taken, record.source_version, record.stored_at
    from ${keys} ${tableName(resource.table)} as record ${index} ${join}`
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

/** The version of a record that is current; undefined for one that is withdrawn. */
export const currentVersionOf = (
  { deletable }: Resource,
  record: StoredRecord,
): string | undefined =>
  record.idTaken || (!deletable && record.deletedAt !== null) ? undefined : versionOf(record)

/**
 * The time of the merge that stored the version. It is later than every merge before it of that
 * customer and kind, so it names one version of a record, on every process. A digest of the content
 * would let a client that may only write find what it cannot read, by trying.
 */
export const versionOf = ({ storedAt }: Pick<StoredRecord, 'storedAt'>): string =>
  storedAt.toString(36)

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

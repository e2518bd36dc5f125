import { fullTable, type Resource } from '../../contract/resource.ts'
import type { Dialect } from '../dialect.ts'
import { isTrue, type NamedRow } from '../row.ts'
import { customerId, customerNumber } from '../schema/customers.ts'
import { fullOfRecord, memberColumns } from '../schema/tables.ts'
import type { Reads } from '../session.ts'
import { bodyChecksum } from './checksum.ts'

/** One stored record with everything that the store keeps of it, as an integrity check reads it. */
export type StoredRow = {
  readonly customerId: string
  /** The number of the customer, in whose order the table is read. */
  readonly customer: bigint
  readonly id: string
  readonly deleted: boolean
  readonly position: Uint8Array
  /** The filter columns and the exclusive key, by column. */
  readonly members: Readonly<Record<string, string | null>>
  /** What lists answer. */
  readonly listed: StoredBody
  /** The unmasked record of a kind with a mask; null where its row is missing. */
  readonly unmasked: (StoredBody & { readonly deleted: boolean }) | null | undefined
  readonly deletedAt: bigint | null
  readonly updatedAt: bigint | null
  readonly sourceVersion: bigint | null
}

export type StoredBody = { readonly body: string; readonly checksum: number }

/** The place of a row in its table, which is read in this order. */
export type RowKey = Pick<StoredRow, 'customer' | 'deleted' | 'position'>

/** How an integrity check reads stored records. */
export type StoredRows = ReturnType<typeof storedRows>

/** Reads rows of every customer with everything stored of each. */
export function storedRows({ rows }: Reads, dialect: Dialect) {
  const { parameter, listedId } = dialect
  return {
    /** The rows after a key, in the order of the table. */
    after: async (
      resource: Resource,
      key: RowKey | undefined,
      rowsMax: number,
    ): Promise<readonly StoredRow[]> => {
      const columns = 'record.customer, record.deleted, record.position'
      const [customer, deleted, position] = [
        parameter(2, 'bigint'),
        parameter(3, 'boolean'),
        parameter(4, 'bytea'),
      ]
      const after = `where (${columns}) > (${customer}, ${deleted}, ${position})`
      const found = await rows({
        text: rowsQuery(
          resource,
          dialect,
          `${key === undefined ? '' : after} order by ${columns} limit ${parameter(1, 'bigint')}`,
        ),
        values: [rowsMax, ...(key === undefined ? [] : [key.customer, key.deleted, key.position])],
      })
      return found.map((row) => readStoredRow(resource, row))
    },
    /** Undefined if the customer has no record with this id. */
    find: async (
      resource: Resource,
      customerId: string,
      id: string,
    ): Promise<StoredRow | undefined> => {
      const isOwn = `record.customer = ${customerNumber(dialect, parameter(1, 'text'))}`
      const text = rowsQuery(
        resource,
        dialect,
        `where ${isOwn} and ${listedId.is('record', parameter(2, 'uuid'))} limit 1`,
      )
      const [row] = await rows({ text, values: [customerId, id] })
      return row === undefined ? undefined : readStoredRow(resource, row)
    },
    /** Ids of unmasked records whose masked record is missing. */
    unpaired: async (resource: Resource, rowsMax: number): Promise<readonly string[]> => {
      const text = `${unpairedQuery(resource, dialect)} limit ${parameter(1, 'bigint')}`
      return (await rows({ text, values: [rowsMax] })).map(({ id }) => String(id))
    },
  }
}

/** Selects rows of a kind with everything stored of each, and the unmasked record beside it. */
function rowsQuery(resource: Resource, dialect: Dialect, tail: string): string {
  const { tableName, listedId } = dialect
  const members = memberColumns(resource).map((column) => `record.${column} as member_${column}`)
  const unmasked = ['id', 'deleted', 'body', 'checksum'].map(
    (column) => `unmasked.${column} as full_${column}`,
  )
  const isApart = resource.mask !== undefined
  return `
    select ${customerId(dialect, 'record.customer')} as customer_id,
      record.customer, ${listedId.of('record')} as id, record.deleted, record.position, record.body,
      record.checksum, record.deleted_at, record.updated_at, record.source_version,
      ${[...members, ...(isApart ? unmasked : [])].join(', ')}
    from ${tableName(resource.table)} as record ${fullOfRecord(resource, dialect).join}
    ${tail}`
}

/** Selects the ids of unmasked records, of a kind with a mask, whose masked record is missing. */
export const unpairedQuery = (resource: Resource, { tableName, listedId }: Dialect): string => `
  select unmasked.id from ${tableName(fullTable(resource))} as unmasked
  where not exists (select 1 from ${tableName(resource.table)} as record
    where record.customer = unmasked.customer
      and ${listedId.is('record', 'unmasked.id')})`

/** Reads a row of these queries. Asserts no type, because a damaged row may hold any value. */
function readStoredRow(resource: Resource, row: NamedRow): StoredRow {
  return {
    customerId: String(row.customer_id),
    customer: wholeOrNull(row.customer) ?? 0n,
    id: String(row.id),
    deleted: isTrue(row.deleted),
    position: row.position instanceof Uint8Array ? row.position : new Uint8Array(0),
    members: Object.fromEntries(
      memberColumns(resource).map((column) => {
        const value = row[`member_${column}`]
        return [column, value == null ? null : String(value)]
      }),
    ),
    listed: { body: String(row.body), checksum: Number(row.checksum) },
    unmasked: unmaskedOf(resource, row),
    deletedAt: wholeOrNull(row.deleted_at),
    updatedAt: wholeOrNull(row.updated_at),
    sourceVersion: wholeOrNull(row.source_version),
  }
}

function unmaskedOf({ mask }: Resource, row: NamedRow): StoredRow['unmasked'] {
  if (mask === undefined) return undefined
  if (row.full_id == null) return null
  return {
    body: String(row.full_body),
    checksum: Number(row.full_checksum),
    deleted: isTrue(row.full_deleted),
  }
}

const wholeOrNull = (value: unknown): bigint | null => (typeof value === 'bigint' ? value : null)

/** What is wrong with a row by itself, without a rendering of its record. Quotes no value. */
export function rowFaults({ mask }: Resource, row: StoredRow): string[] {
  const { listed, unmasked, customerId, deleted } = row
  const isMasked = mask !== undefined
  const faults = bodyFaults(customerId, listed, isMasked ? 'the masked body' : 'the body')
  if (deleted !== (row.deletedAt !== null))
    faults.push('the mark and the time of its deletion differ')
  if (!isMasked) return faults
  if (unmasked == null) return [...faults, 'the full record is missing']
  if (unmasked.deleted !== deleted) faults.push('only one of its two rows is deleted')
  return [...faults, ...bodyFaults(customerId, unmasked, 'the full body')]
}

function bodyFaults(customerId: string, { body, checksum }: StoredBody, name: string): string[] {
  const isIntact = bodyChecksum(customerId, body) === checksum
  return isIntact ? [] : [`${name} does not match its checksum`]
}

/** Whether a key comes later in the order of the table. */
export function comesAfter(key: RowKey, earlier: RowKey): boolean {
  if (key.customer !== earlier.customer) return key.customer > earlier.customer
  if (key.deleted !== earlier.deleted) return key.deleted
  return Buffer.compare(key.position, earlier.position) > 0
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** An id for a message. A damaged id may hold anything, so only a UUID is shown. */
export const shownId = (id: string): string => (uuid.test(id) ? id : '(damaged id)')

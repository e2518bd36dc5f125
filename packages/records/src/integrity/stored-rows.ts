import { keyIdOf } from '@bursar/base'
import { fullTable, isSealedKind, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { StorableRecord } from '../records/import.ts'
import { isTrue, type NamedRow, optionalText, text, whole } from '../row.ts'
import { customerId, customerNumber, ownerOf } from '../schema/customers.ts'
import { fullOfRecord, memberColumns } from '../schema/tables.ts'
import { compareListed, type Seals, sealTerms } from '../sealing/seals.ts'
import type { Reads } from '../session.ts'
import { derivedRows, type Kept, keptOf, type RowKey, readKept } from './derived-rows.ts'

/** One stored record with everything that the store keeps of it, as an integrity check reads it. */
export type StoredRow = RowKey & {
  readonly customerId: string
  readonly id: string
  /** The filter columns and the exclusive key, by column. */
  readonly members: Readonly<Record<string, string | null>>
  /** What lists answer. */
  readonly listed: StoredBody
  /** The unmasked record of a kind with a mask; null where its row is missing. */
  readonly unmasked: OpenedRow | null | undefined
  readonly deletedAt: bigint | null
  readonly updatedAt: bigint | null
  readonly sourceVersion: bigint | null
  /** The key that its sealed body names. */
  readonly keyId: string | undefined
}

/** With what was kept of the records of its kind and customer when it was read. */
export type CountedRow = StoredRow & { readonly kept: Kept }

export type StoredBody = { readonly body: string; readonly fault: string | undefined }

/** The unmasked record as it was imported; undefined if it does not open, or was not opened. */
type OpenedRow = {
  readonly body: string | undefined
  readonly fault: string | undefined
  readonly deleted: boolean
}

/** Undefined where sealed bodies are not opened. */
type OpenBodies = Pick<Seals, 'open'> | undefined

/** A customer as its table has it. */
type Owner = { readonly customerId: string; readonly number: bigint; readonly owner: string }

/** How an integrity check reads stored records. */
export type StoredRows = ReturnType<typeof storedRows>

/** Reads rows of every customer with everything stored of each. */
export function storedRows(
  { rows }: Reads,
  dialect: Dialect,
  seals: Pick<Seals, 'open' | 'known' | 'numbers'>,
) {
  const { parameter, listedId, tableName } = dialect
  return {
    /**
     * The members of a record as they are stored, if the key that its row names is in memory. A
     * renewal seals the body and the terms of a row together.
     */
    membersOf: (
      resource: Resource,
      { keyId }: StoredRow,
      record: StorableRecord,
    ): StorableRecord['members'] | undefined => {
      if (!isSealedKind(resource)) return record.members
      const key = seals.known(record.customerId, keyId)
      return key && sealTerms(key, resource, record)
    },
    /** The rows after a key, in the order of the table. Sealed bodies are opened by default. */
    after: async (
      resource: Resource,
      key: RowKey | undefined,
      rowsMax: number,
      opens = true,
    ): Promise<readonly CountedRow[]> => {
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
          `${keptOf(resource, dialect, 'record.customer')} as kept,`,
        ),
        values: [rowsMax, ...(key === undefined ? [] : [key.customer, key.deleted, key.position])],
      })
      const opening = opens ? seals : undefined
      return await Promise.all(
        found.map(async (row) => ({
          ...(await readStoredRow(resource, row, opening)),
          kept: readKept(row),
        })),
      )
    },
    /** Undefined if the customer has no record with this id. */
    find: async (
      resource: Resource,
      customerId: string,
      id: string,
    ): Promise<StoredRow | undefined> => {
      const isOwn = `record.customer = ${customerNumber(dialect, parameter(1, 'text'))}`
      const query = rowsQuery(
        resource,
        dialect,
        `where ${isOwn} and ${listedId.is('record', parameter(2, 'uuid'))} limit 1`,
      )
      const [row] = await rows({ text: query, values: [customerId, id] })
      return row === undefined ? undefined : await readStoredRow(resource, row, seals)
    },
    /** The full body of a record that is not deleted, if it opens. */
    fullBody: async (
      resource: Resource,
      customerId: string,
      id: string,
    ): Promise<string | undefined> => {
      const [row] = await rows({
        text: `select body, checksum from ${tableName(fullTable(resource))}
          where customer = ${customerNumber(dialect, parameter(1, 'text'))}
            and id = ${parameter(2, 'uuid')} and deleted = ${dialect.boolean(false)}`,
        values: [customerId, id],
      })
      if (row === undefined) return undefined
      const stored = { customerId, id, body: String(row.body), checksum: Number(row.checksum) }
      const opened = await seals.open(resource, stored)
      return 'body' in opened ? opened.body : undefined
    },
    /** Customers after a number, each with its `ownerOf`. */
    owners: async (number: bigint, rowsMax: number): Promise<readonly Owner[]> => {
      const found = await rows({
        text: `select id, number, ${ownerOf('owner')} as owner from ${tableName('customer')} as owner
          where number > ${parameter(1, 'bigint')} order by number limit ${parameter(2, 'bigint')}`,
        values: [number, rowsMax],
      })
      return found.map((row) => ({
        customerId: text(row, 'id'),
        number: whole(row, 'number'),
        owner: text(row, 'owner'),
      }))
    },
    isOwn: seals.numbers.isOwn,
    /** What is stored beside the records. */
    derived: derivedRows({ rows }, dialect),
    /** Unmasked records after one, in order, and whether the masked record of each is lost. */
    unmasked: async (
      resource: Resource,
      after: Pick<UnmaskedRow, 'customer' | 'id'> | undefined,
      rowsMax: number,
    ): Promise<readonly UnmaskedRow[]> => {
      const from = `(select customer, id from ${tableName(fullTable(resource))}
        where (customer, id) > (${parameter(1, 'bigint')}, ${parameter(2, 'uuid')})
        order by customer, id limit ${rowsMax})`
      const text = `
        select unmasked.customer, cast(unmasked.id as text) as id,
          record.customer is null as is_lost,
          ${customerId(dialect, 'unmasked.customer')} as customer_id
        from ${from} as unmasked left join ${listedRow(resource, dialect)} on ${isOfUnmasked(dialect)}
        order by unmasked.customer, unmasked.id`
      const values = [after?.customer ?? 0n, after?.id ?? nilUuid]
      return (await rows({ text, values })).map((row) => ({
        customer: whole(row, 'customer'),
        id: String(row.id),
        // A damaged row may have the number of no customer.
        customerId: optionalText(row, 'customer_id') ?? '',
        isLost: isTrue(row.is_lost),
      }))
    },
  }
}

export type UnmaskedRow = {
  readonly customer: bigint
  readonly id: string
  readonly customerId: string
  readonly isLost: boolean
}

const nilUuid = '00000000-0000-0000-0000-000000000000'

/** Selects rows of a kind with everything stored of each, and the unmasked record beside it. */
function rowsQuery(resource: Resource, dialect: Dialect, tail: string, more = ''): string {
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
      ${more}
      ${[...members, ...(isApart ? unmasked : [])].join(', ')}
    from ${tableName(resource.table)} as record ${fullOfRecord(resource, dialect).join}
    ${tail}`
}

/** Selects the ids of unmasked records, of a kind with a mask, whose masked record is missing. */
export const unpairedQuery = (resource: Resource, dialect: Dialect): string => `
  select unmasked.id from ${dialect.tableName(fullTable(resource))} as unmasked
  where not exists (
    select 1 from ${listedRow(resource, dialect)} where ${isOfUnmasked(dialect)})`

/** The index is named, since SQLite would seek the masked record among all of its customer. */
const listedRow = ({ table }: Resource, { tableName, indexedBy }: Dialect): string =>
  `${tableName(table)} as record ${indexedBy(`${table}_by_id`)}`

const isOfUnmasked = ({ listedId }: Dialect): string =>
  `record.customer = unmasked.customer and ${listedId.is('record', 'unmasked.id')}`

/** Reads a row of these queries. Asserts no type, because a damaged row may hold any value. */
async function readStoredRow(
  resource: Resource,
  row: NamedRow,
  seals: OpenBodies,
): Promise<StoredRow> {
  return {
    customerId: String(row.customer_id ?? ''),
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
    listed: await listedOf(resource, row, seals),
    unmasked: await unmaskedOf(resource, row, seals),
    deletedAt: wholeOrNull(row.deleted_at),
    updatedAt: wholeOrNull(row.updated_at),
    sourceVersion: wholeOrNull(row.source_version),
    keyId: isSealedKind(resource) ? keyIdOf(String(row.full_body ?? row.body)) : undefined,
  }
}

async function listedOf(
  resource: Resource,
  row: NamedRow,
  seals: OpenBodies,
): Promise<StoredRow['listed']> {
  const [customerId, id] = [String(row.customer_id), String(row.id)]
  const stored = { customerId, id, body: String(row.body), checksum: Number(row.checksum) }
  const compared = await compareListed(resource, stored, seals)
  return { body: stored.body, fault: compared && 'fault' in compared ? compared.fault : undefined }
}

async function unmaskedOf(
  resource: Resource,
  row: NamedRow,
  seals: OpenBodies,
): Promise<StoredRow['unmasked']> {
  if (resource.mask === undefined) return undefined
  if (row.full_id == null) return null
  const opened = await seals?.open(resource, {
    customerId: String(row.customer_id),
    id: String(row.full_id),
    body: String(row.full_body),
    checksum: Number(row.full_checksum),
  })
  return {
    deleted: isTrue(row.full_deleted),
    body: undefined,
    fault: undefined,
    ...opened,
  }
}

const wholeOrNull = (value: unknown): bigint | null => (typeof value === 'bigint' ? value : null)

/** Nobody can tell whether such a record is deleted. */
export const DELETION_UNSURE = 'the mark and the time of its deletion differ'

export const FULL_MISSING = 'the full record is missing'
export const MASKED_MISSING = 'the masked record is missing'

/** What is wrong with a row by itself, without a rendering of its record. Quotes no value. */
export function rowFaults({ mask }: Resource, row: StoredRow): string[] {
  const { listed, unmasked, deleted } = row
  const isMasked = mask !== undefined
  const faults: string[] = []
  if (listed.fault !== undefined) {
    faults.push(isMasked ? 'the masked body does not match its checksum' : listed.fault)
  }
  if (deleted !== (row.deletedAt !== null)) faults.push(DELETION_UNSURE)
  if (!isMasked) return faults
  if (unmasked == null) return [...faults, FULL_MISSING]
  if (unmasked.deleted !== deleted) faults.push('only one of its two rows is deleted')
  if (unmasked.fault !== undefined) faults.push(unmasked.fault)
  return faults
}

/** Whether a key comes later in the order of the table. */
export function comesAfter(key: RowKey, earlier: RowKey): boolean {
  if (key.customer !== earlier.customer) return key.customer > earlier.customer
  if (key.deleted !== earlier.deleted) return key.deleted
  return Buffer.compare(key.position, earlier.position) > 0
}

const shown = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{1,10})$/

/** An id for a message. A damaged id may hold anything, so only a UUID or a number is shown. */
export const shownId = (id: string): string => (shown.test(id) ? id : '(damaged id)')

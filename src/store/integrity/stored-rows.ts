import { fullTable, type Resource } from '../../contract/resource.ts'
import type { Dialect } from '../dialect.ts'
import { isTrue, type NamedRow } from '../row.ts'
import { memberColumns } from '../schema/tables.ts'
import type { Reads } from '../session.ts'
import type { StoredRow, StoredRows } from './stored-row.ts'

/** Reads rows of every customer with everything stored of each. */
export function storedRows({ rows }: Reads, dialect: Dialect): StoredRows {
  const { tableName, parameter } = dialect
  return {
    after: async (resource, key, rowsMax) => {
      const columns = 'record.customer_id, record.deleted, record.position'
      const [customer, deleted, position] = [
        parameter(2, 'text'),
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
        values: [
          rowsMax,
          ...(key === undefined ? [] : [key.customerId, key.deleted, key.position]),
        ],
      })
      return found.map((row) => readStoredRow(resource, row))
    },
    find: async (resource, customerId, id) => {
      const isOwn = `record.customer_id = ${parameter(1, 'text')}`
      const text = rowsQuery(
        resource,
        dialect,
        `where ${isOwn} and record.id = ${parameter(2, 'uuid')} limit 1`,
      )
      const [row] = await rows({ text, values: [customerId, id] })
      return row === undefined ? undefined : readStoredRow(resource, row)
    },
    unpaired: async (resource, rowsMax) => {
      const text = `
        select unmasked.id from ${tableName(fullTable(resource))} as unmasked
        left join ${tableName(resource.table)} as record
          on record.customer_id = unmasked.customer_id and record.id = unmasked.id
        where record.id is null limit ${parameter(1, 'bigint')}`
      return (await rows({ text, values: [rowsMax] })).map(({ id }) => String(id))
    },
  }
}

/** Selects rows of a kind with everything stored of each, and the unmasked record beside it. */
function rowsQuery(resource: Resource, { tableName }: Dialect, tail: string): string {
  const members = memberColumns(resource).map((column) => `record.${column} as member_${column}`)
  const isApart = resource.mask !== undefined
  const unmasked = ['id', 'deleted', 'body', 'checksum'].map(
    (column) => `unmasked.${column} as full_${column}`,
  )
  return `
    select record.customer_id, record.id, record.deleted, record.position, record.body,
      record.checksum, record.source_digest, record.deleted_at, record.updated_at, record.source_version,
      ${[...members, ...(isApart ? unmasked : [])].join(', ')}
    from ${tableName(resource.table)} as record
    ${isApart ? `left join ${tableName(fullTable(resource))} as unmasked on unmasked.customer_id = record.customer_id and unmasked.id = record.id` : ''}
    ${tail}`
}

/** The rows of any customers that have the ids of a list, which is the parameter. */
export function rowsOfIdsQuery(resource: Resource, dialect: Dialect): string {
  const hasId = dialect.isAnyOf('record.id', dialect.parameter(1, 'uuid[]'))
  const tail = `where ${hasId} and record.stored_at >= 0 and record.id_taken = false`
  return rowsQuery(resource, dialect, tail)
}

/** Reads a row, and the digest of the line that it was imported from. */
export const readSourceRow = (resource: Resource, row: NamedRow) => ({
  row: readStoredRow(resource, row),
  sourceDigest: wholeOrNull(row.source_digest),
})

/** Reads a row of these queries. Asserts no type, because a damaged row may hold any value. */
function readStoredRow(resource: Resource, row: NamedRow): StoredRow {
  return {
    customerId: String(row.customer_id),
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

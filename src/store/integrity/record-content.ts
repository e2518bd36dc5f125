import { fullTable, type Resource } from '../../contract/resource.ts'
import type { Dialect } from '../dialect.ts'
import type { SealedRecord } from '../records/import.ts'
import { customerId } from '../schema/customers.ts'
import { memberColumns } from '../schema/tables.ts'
import { bodyChecksum } from './checksum.ts'

/** Whether a row `stored` is the record of its id, which another customer's record may have. */
export const isLive = 'stored.stored_at >= 0 and stored.id_taken = false'

/**
 * Everything stored of the records that have the ids of a list, as one text each. The engine joins
 * it, because a value of its own for each column takes longer than the rest of the look-up. A null
 * is an empty text there. A full body apart may be sealed, in another way each time, so its digest
 * stands for it.
 */
export function contentsOfIds(resource: Resource, dialect: Dialect): string {
  const { tableName, listedId, unnest } = dialect
  const hasMask = resource.mask !== undefined
  const flag = (column: string) => `case when ${column} then 1 else 0 end`
  const content = [
    `lower(${dialect.hex('stored.position')})`,
    flag('stored.deleted'),
    'stored.deleted_at',
    'stored.updated_at',
    'stored.source_version',
    ...memberColumns(resource).map((column) => `stored.${column}`),
    'stored.checksum',
    'stored.body',
    ...(hasMask ? [flag('unmasked.deleted'), 'unmasked.checksum'] : []),
  ]
  const unmasked = `left join ${tableName(fullTable(resource))} as unmasked
      on unmasked.customer = stored.customer and unmasked.id = look_up.id`
  return `
    select look_up.id, ${customerId(dialect, 'stored.customer')} as customer_id,
      stored.source_digest as digest,
      ${hasMask ? 'unmasked.body as full_body, unmasked.checksum as full_checksum,' : ''}
      concat(${content.join(`, '\n', `)}) as content
    from ${unnest('look_up', { id: 'uuid[]' })}
    join ${tableName(resource.table)} as stored on ${listedId.is('stored', 'look_up.id')}
    ${hasMask ? unmasked : ''}
    where ${isLive}`
}

/** The same of a record that will be stored. */
export function contentOf(record: Omit<SealedRecord, 'sourceDigest'>): string {
  const { customerId, stored, checksum, masked, position, deletedAt = null } = record
  const listed = masked ?? stored
  const isDeleted = deletedAt === null ? 0 : 1
  const content = [
    Buffer.from(position.buffer, position.byteOffset, position.byteLength).toString('hex'),
    isDeleted,
    deletedAt,
    record.updatedAt,
    record.sourceVersion,
    ...Object.values(record.members),
    masked === null ? checksum : bodyChecksum(customerId, listed),
    listed,
    ...(masked === null ? [] : [isDeleted, checksum]),
  ]
  return content.join('\n')
}

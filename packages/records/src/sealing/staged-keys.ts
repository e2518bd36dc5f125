import type { Dialect } from '../dialect.ts'
import { text, whole } from '../row.ts'
import type { Reads } from '../session.ts'

/**
 * The customers whose staged records have a key that is not the current one any more: the key was
 * rotated, or the customer erased, since the records were sealed. In the transaction of the merge,
 * with the locks of the customers, so that no body is stored with a key that is about to go.
 */
export async function staleCustomers(
  { rows }: Reads,
  { tableName, boolean }: Dialect,
): Promise<readonly string[]> {
  const found = await rows({
    text: `
      select staged.customer_id
      from (select distinct customer_id, key_id from staged_line where key_id is not null) as staged
      left join ${tableName('customer_key')} as known on known.customer_id = staged.customer_id
        and known.id = staged.key_id and known.current = ${boolean(true)}
      where known.id is null`,
    values: [],
    prepare: true,
  })
  return found.map((row) => text(row, 'customer_id'))
}

/** Customers of the staged records that have older keys, which stored records may be under. */
export async function unfinishedCustomers(
  { rows }: Reads,
  { tableName, boolean }: Dialect,
): Promise<readonly { readonly customerId: string; readonly number: bigint }[]> {
  const found = await rows({
    text: `
      select owner.id, owner.number
      from (select distinct customer_id from staged_line where key_id is not null) as staged
      join ${tableName('customer')} as owner on owner.id = staged.customer_id
      where exists (select 1 from ${tableName('customer_key')} as known
        where known.customer_id = owner.id and known.current = ${boolean(false)})`,
  })
  return found.map((row) => ({ customerId: text(row, 'id'), number: whole(row, 'number') }))
}

/**
 * Locks the keys of staged customers that have no row yet, so that no walk replaces one behind the
 * merge that stores its first records.
 */
export async function lockNewKeys(
  { rows }: Reads,
  { tableName, forUpdate }: Dialect,
): Promise<void> {
  await rows({
    text: `
      select known.id from ${tableName('customer_key')} as known
      where known.customer_id in (
        select staged.customer_id from staged_line as staged where staged.key_id is not null
          and not exists (select 1 from ${tableName('customer')} as owner
            where owner.id = staged.customer_id))
      order by known.customer_id, known.id ${forUpdate('wait')}`,
  })
}

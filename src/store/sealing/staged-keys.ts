import type { Dialect } from '../dialect.ts'
import { isTrue, text } from '../row.ts'
import type { Reads } from '../session.ts'
import type { Form } from './customer-key-rows.ts'

/**
 * The customers whose staged records have a key that is not the current one any more: the key was
 * rotated, or the customer erased, since the records were sealed. In the transaction of the merge,
 * with the locks of the customers, so that no body is stored with a key that is about to go. Notes
 * the customers whose bodies have two forms from now on.
 */
export async function staleCustomers(
  { rows }: Reads,
  dialect: Dialect,
  form: Form,
): Promise<readonly string[]> {
  const table = dialect.tableName('customer_key')
  const found = await rows({ text: findOthers(dialect, table), values: [form], prepare: true })
  const stale = found.filter((row) => isTrue(row.is_stale)).map((row) => text(row, 'customer_id'))
  const mixed = found.map((row) => text(row, 'customer_id'))
  if (stale.length === 0 && mixed.length > 0) {
    await rows({
      text: `update ${table} set form = null where current = ${dialect.boolean(true)}
        and ${dialect.isAnyOf('customer_id', dialect.parameter(1, 'text[]'))}`,
      values: [dialect.list(mixed)],
    })
  }
  return stale
}

const findOthers = ({ parameter, boolean }: Dialect, table: string): string => `
  select staged.customer_id, known.id is null as is_stale
  from (select distinct customer_id, key_id from staged_line where key_id is not null) as staged
  left join ${table} as known on known.customer_id = staged.customer_id
    and known.id = staged.key_id and known.current = ${boolean(true)}
  where known.id is null or known.form <> ${parameter(1, 'text')}`

import type { Dialect } from '../dialect.ts'
import { isTrue, type NamedRow, text } from '../row.ts'
import type { Reads } from '../session.ts'
import type { Form } from './customer-key-rows.ts'

/**
 * The customers whose staged records have a key that is not the current one any more: the key was
 * rotated, or the customer erased, since the records were sealed. In the transaction of the merge,
 * with the locks of the customers, so that no body is stored with a key that is about to go. Notes
 * the customers whose bodies have two forms from now on.
 */
export async function staleCustomers(
  reads: Reads,
  dialect: Dialect,
  form: Form,
): Promise<readonly string[]> {
  const found = await otherKeys(reads, dialect, form)
  const stale = found.filter(isStale).map(customerOf)
  if (stale.length === 0) await noteForms(reads, dialect, found)
  return stale
}

/** The customers of staged records with another key, or another form, than the current one. */
export const otherKeys = ({ rows }: Reads, dialect: Dialect, form: Form) =>
  rows({ text: findOthers(dialect), values: [form], prepare: true })

/** Whether a row of `otherKeys` names another key. */
export const isStale = (row: NamedRow): boolean => isTrue(row.is_stale)

/** Notes that the bodies of such customers have two forms from now on. */
export async function noteForms(
  { rows }: Reads,
  dialect: Dialect,
  mixed: readonly NamedRow[],
): Promise<void> {
  if (mixed.length === 0) return
  await rows({
    text: `update ${dialect.tableName('customer_key')} set form = null
      where current = ${dialect.boolean(true)}
        and ${dialect.isAnyOf('customer_id', dialect.parameter(1, 'text[]'))}`,
    values: [dialect.list(mixed.map(customerOf))],
  })
}

const customerOf = (row: NamedRow): string => text(row, 'customer_id')

const findOthers = ({ parameter, boolean, tableName }: Dialect): string => `
  select staged.customer_id, known.id is null as is_stale
  from (select distinct customer_id, key_id from staged_line where key_id is not null) as staged
  left join ${tableName('customer_key')} as known on known.customer_id = staged.customer_id
    and known.id = staged.key_id and known.current = ${boolean(true)}
  where known.id is null or known.form <> ${parameter(1, 'text')}`

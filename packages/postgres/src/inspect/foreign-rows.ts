import type { Finding } from '@bursar/base'
import { contractLimits } from '@bursar/contract'
import { text } from '@bursar/records'
import { transact } from '../cluster/transaction.ts'
import { type Connection, textArray } from '../driver/connection.ts'
import { tableRights } from '../schema/grants.ts'

/** Tables that have a customer, whose rows a policy shows to that customer only. */
const customerTables = Object.keys(tableRights).filter(
  (table) =>
    tableRights[table]?.isProtected &&
    !['denied_token', 'used_assertion', 'purpose_key'].includes(table),
)

/** Asks, as the customers' role, what a statement sees that names no customer, or a foreign one. */
export async function foreignRowFindings(session: Connection): Promise<readonly Finding[]> {
  const seen = new Set<string>()
  const readable = await session.rows({
    text: `select name from unnest($1::text[]) as wanted (name)
      where has_table_privilege(current_user, to_regclass('bursar.' || name), 'select')`,
    values: [textArray(customerTables)],
  })
  const looks = readable.map((row) => {
    const table = text(row, 'name')
    return `select '${table}' as name where exists (select from bursar.${table})`
  })
  if (looks.length === 0) return []
  for (const [customer, id] of [
    ['', ''],
    ['-1', 'no customer has this id: \t'],
  ]) {
    const settings = `set local statement_timeout = ${contractLimits.doctorCheckMs};
      set local bursar.customer = '${customer}'; set local bursar.customer_id = '${id}'`
    const rows = await transact(
      session,
      () => session.rows({ text: looks.join(' union all ') }),
      settings,
    )
    for (const row of rows) seen.add(text(row, 'name'))
  }
  return [...seen].map((table) => ({
    what: `the role of customers sees rows of table ${table} that are of no customer or of another one`,
    why: 'a fault of the program could show a customer the records of another one',
    fix: 'drop the policies that migrate does not make, or restore the schema',
  }))
}

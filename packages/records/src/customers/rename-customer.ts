import assert from 'node:assert/strict'
import { parseDisplayName, systemTime } from '@bursar/base'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import type { CustomerRegister } from '../records/customer-entries.ts'
import { whole } from '../row.ts'
import type { Transact } from '../session.ts'

/** Gives names while it holds the customer's row, as an erasure does. */
export function openRename(
  transact: Transact,
  { tableName, parameter, forUpdate }: Dialect,
): CustomerRegister['rename'] {
  const [customer, extent] = [tableName('customer'), tableName('extent')]
  const [names, terms] = [tableName('customer_name'), tableName('customer_term')]
  const number = parameter(1, 'integer')
  const lock = `select number from ${customer} where id = ${parameter(1, 'text')} ${forUpdate('wait')}`
  const isKept = `select 1 from ${extent} where customer = ${number} limit 1`
  const remove = [names, terms].map((table) => `delete from ${table} where customer = ${number}`)
  const add = `insert into ${names} (customer, name) values (${number}, ${parameter(2, 'text')})`
  const addTerm = `insert into ${terms} (customer, place, term)
    values (${number}, ${parameter(2, 'bigint')}, ${parameter(3, 'text')})`
  return (customerId, name) =>
    transact(async ({ rows }) => {
      const [owner] = await rows({ text: lock, values: [customerId] })
      if (owner === undefined) return false
      const found = whole(owner, 'number')
      const [kept] = await rows({ text: isKept, values: [found] })
      if (kept === undefined) return false
      for (const text of remove) await rows({ text, values: [found] })
      if (name === undefined) return true
      const parsed = parseDisplayName(name)
      assert(parsed !== undefined, 'the caller has checked the name')
      await rows({ text: add, values: [found, parsed.name] })
      for (const [at, term] of parsed.terms.entries()) {
        await rows({ text: addTerm, values: [found, at + 1, term] })
      }
      return true
    }, systemTime.elapsedMs() + recordsLimits.storeLockWaitMs)
}

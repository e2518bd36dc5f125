import type { Clock } from '@bursar/base'
import type { Dialect } from '../dialect.ts'
import type { OperatorRecords } from '../records.ts'
import { optionalWhole, whole } from '../row.ts'
import { noteOneDue, ownerOf } from '../schema/customers.ts'
import { type CustomerNumbers, settleOwners } from '../sealing/customer-numbers.ts'
import type { Transact } from '../session.ts'

/**
 * Adds the event of a consumed fee to its customer. A lock of the customer's row comes first, as
 * every writer has it. A fee that has its event already takes no number: a process that has added
 * it may have ended before it could delete the note.
 */
export function openNoteConsumed(
  transact: Transact,
  dialect: Dialect,
  clock: Clock,
  numbers: CustomerNumbers,
): OperatorRecords['noteConsumed'] {
  const { tableName, parameter, forUpdate } = dialect
  const [customer, event] = [tableName('customer'), tableName('fee_event')]
  const id = parameter(1, 'text')
  const number = parameter(1, 'integer')
  const add = `insert into ${customer} (id) values (${id}) on conflict (id) do nothing
    returning id`
  const lock = `select id, number, changes, ${ownerOf('owner')} as owner
    from ${customer} as owner where id = ${id} ${forUpdate('wait')}`
  const last = `select stored_at from ${event} where customer = ${number}
    order by change desc limit 1`
  const insert = `insert into ${event} (customer, change, id, stored_at)
    values (${number}, ${parameter(2, 'bigint')}, ${parameter(3, 'uuid')}, ${parameter(4, 'bigint')})
    on conflict (customer, id) do nothing returning change`
  const count = `update ${customer} set changes = ${parameter(2, 'bigint')} where number = ${number}`
  // The latest changes of all customers are found by it.
  const revise = `insert into ${tableName('revision')} as known (customer, kind, changed_at)
    values (${number}, 'fees', ${parameter(2, 'bigint')})
    on conflict (customer, kind) do update set changed_at = excluded.changed_at`
  const due = noteOneDue(dialect)
  return ({ id: feeId, customerId }, deadline) =>
    transact(async (session) => {
      const run = async (text: string, values: readonly (string | bigint)[]) =>
        (await session.rows({ text, values, prepare: true }))[0]
      const isNew = await run(add, [customerId])
      const owner = (await run(lock, [customerId])) ?? {}
      await settleOwners(session, { dialect, numbers }, [owner], () => isNew !== undefined)
      const [owned, change] = [whole(owner, 'number'), whole(owner, 'changes') + 1n]
      const before = optionalWhole((await run(last, [owned])) ?? { stored_at: null }, 'stored_at')
      // The times of a kind never fall, whatever the clock says.
      const now = clock()
      const storedAt = before !== undefined && before >= now ? before + 1n : now
      const added = await run(insert, [owned, change, feeId, storedAt])
      if (added === undefined) return
      await run(count, [owned, change])
      await run(revise, [owned, storedAt])
      await run(due, [owned])
    }, deadline)
}

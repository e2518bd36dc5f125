import type { Dialect } from '../dialect.ts'
import { whole } from '../row.ts'
import { lockCustomers } from '../schema/customers.ts'
import type { Session, Transact } from '../session.ts'

type Deps = { readonly dialect: Dialect; readonly transact: Transact }

/**
 * Runs work while nobody else stores anything of a customer, as a merge does. A customer without a
 * row has a key if its first records were refused, or if a transaction that stores them has not
 * ended. Its keys are locked then, and its row is added until the work has ended.
 */
export const openWithCustomer =
  ({ transact, dialect }: Deps) =>
  <T>(customerId: string, work: (session: Session, number?: bigint) => Promise<T>): Promise<T> =>
    transact(async (session) => {
      const { tableName, forUpdate } = dialect
      const customer = tableName('customer')
      const values = [customerId]
      const keys = `select id from ${tableName('customer_key')} where customer_id = $1`
      for (;;) {
        const [owner] = await session.rows(lockCustomers(dialect, values))
        if (owner !== undefined) return await work(session, whole(owner, 'number'))
        await session.rows({ text: `${keys} order by id ${forUpdate('wait')}`, values })
        const added = await session.rows({
          text: `insert into ${customer} (id) values ($1) on conflict do nothing returning id`,
          values,
        })
        if (added.length === 0) continue
        const result = await work(session)
        await session.rows({ text: `delete from ${customer} where id = $1`, values })
        return result
      }
    })

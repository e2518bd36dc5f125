import { limitsOf, systemTime } from '@bursar/base'
import type { Transact } from '@bursar/records'
import type { Servers } from '../cluster/servers.ts'
import { transactOn } from '../cluster/transaction.ts'
import { setLocal } from '../driver/sessions.ts'
import { refusalOf } from './customer-locks.ts'

const limits = limitsOf({
  /** PostgreSQL: how long a record waits for an import that stores its customer’s first key. */
  firstKeyMs: 2500,
})

const waiting = () =>
  setLocal({
    lock_timeout: (limits.firstKeyMs * 4) / 5,
    statement_timeout: limits.firstKeyMs,
  })

/**
 * Transactions that store the first key of a customer. An import that has stored one, and is not
 * over, keeps them waiting. After some seconds it is refused like others of a locked customer.
 */
export const firstKeyTransactions =
  (servers: Servers): Transact =>
  (work) =>
    transactOn(servers, waiting())(
      async (session) => {
        try {
          return await work(session)
        } catch (error) {
          throw refusalOf(error, true)
        }
      },
      systemTime.elapsedMs() + 2 * limits.firstKeyMs,
    )

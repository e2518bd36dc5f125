import { limitsOf, systemTime } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import {
  CustomersLocked,
  holds,
  isTrue,
  otherCustomers,
  type PutLocks,
  recordsLimits,
  type Session,
  text,
} from '@bursar/records'
import { dialect } from '../dialect.ts'
import { textArray } from '../driver/connection.ts'
import { isEnded, isLockTimeout } from '../driver/failure.ts'
import { setLocal } from '../driver/sessions.ts'

const limits = limitsOf({
  /**
   * PostgreSQL: how long a batch of single records, which holds customers, waits for a value that
   * another merge stores. Shorter than `deadlock_timeout`, so that the batch gives up first.
   */
  putClaimMs: 50,
})

const customer = dialect.tableName('customer')

/**
 * Keeps other writers from the customers of staged records, and from the others that lose a value
 * or may get one. All in one statement, in the order of their numbers, so that no two merges wait
 * in a circle.
 */
export const lockCustomers = (resource: Resource, takeOver: boolean): string => `
  select count(*) from (
    select number from ${customer} where number in (${wanted(resource, takeOver)})
    order by number for update
  ) as locked`

/**
 * Whether another writer has one of them, which another merge may have added since, or which has
 * got a value since. It waits for nobody, and locks those that are free.
 */
export const someIsLocked = (
  session: Pick<Session, 'rows'>,
  resource: Resource,
  takeOver: boolean,
): Promise<boolean> => holds(session, lockedByOthers(wanted(resource, takeOver)))

/** The same for a query of the numbers of customers. */
const lockedByOthers = (numbers: string): string => `
  with wanted as materialized (${numbers}), locked as (
    select number from ${customer} where number in (select * from wanted)
    order by number ${dialect.forUpdate('skip')}
  )
  select (select count(*) from locked) < (select count(distinct number) from wanted as of (number)) as holds`

function wanted(resource: Resource, takeOver: boolean): string {
  const others = otherCustomers(resource, dialect, takeOver)
  return `
    select number from ${customer} where id in (select customer_id from staged_line)
    ${others === undefined ? '' : `union ${others}`}`
}

/**
 * The locks of a batch of single records, which skips customers that others have locked. Its wait
 * for a value ends soon, by the lock timeout of the transaction, because a value of one request
 * keeps the others of the batch waiting.
 */
export function openPutLocks(session: Session, resource: Resource): PutLocks {
  const withoutRow = new Set<string>()
  const query = async (statement: string, list: readonly string[]) => {
    const rows = await session.rows({ text: statement, values: [textArray(list)], prepare: true })
    return new Set(rows.map((row) => text(row, 'id')))
  }
  return {
    customers: async (ids) => {
      const locked = await query(lockListed('skip'), ids)
      const others = ids.filter((id) => !locked.has(id))
      if (others.length === 0) return new Set()
      const present = await query(findCustomers, others)
      for (const id of others) if (!present.has(id)) withoutRow.add(id)
      return present
    },
    hasNew: () => withoutRow.size > 0,
    others: async (takeOver) => {
      const others = otherCustomers(resource, dialect, takeOver)
      if (others === undefined) return
      const text = lockedByOthers(others)
      const [row] = await session.rows({ text, prepare: true })
      if (isTrue(row?.holds)) throw new CustomersLocked()
    },
  }
}

/**
 * The same for a batch that waits for others. It locks like an import, so it may wait for long, and
 * later it finds that it holds everything.
 */
export function openWaitingLocks(session: Session, resource: Resource, deadline: number): PutLocks {
  return {
    ...openPutLocks(session, resource),
    wait: async (ids, takeOver) => {
      await session.run(`${waitUntil(deadline)}; ${lockCustomers(resource, takeOver)}`)
      // A record that is withdrawn is not staged yet.
      await session.rows({ text: lockListed('wait'), values: [textArray(ids)] })
      await session.run(waitUntil(deadline))
    },
  }
}

/** An error of work that waits for others: if it waited in vain, that the customer is locked. */
export function refusalOf(error: unknown, waitsLong: boolean): unknown {
  // A statement that may wait for long is ended at its deadline too.
  const isLocked = isLockTimeout(error) || (waitsLong && isEnded(error))
  return isLocked ? new CustomersLocked({ cause: error }) : error
}

/** The lock timeout of a batch. It is part of the settings of its transaction. */
export const giveUpSoon = `set local lock_timeout = ${limits.putClaimMs}`

/** Bounds a wait and its statement, so that time is left for the work that follows. */
function waitUntil(deadline: number): string {
  const leftMs = Math.floor(deadline - systemTime.elapsedMs()) - recordsLimits.lockedPutMs
  if (leftMs < limits.putClaimMs) throw new CustomersLocked()
  const lockMs = Math.min(recordsLimits.putCustomerMs, leftMs)
  return setLocal({ lock_timeout: lockMs, statement_timeout: leftMs })
}

const findCustomers = `select id from ${customer} where id = any($1::text[])`

const lockListed = (locked: 'wait' | 'skip'): string =>
  `${findCustomers} order by number ${dialect.forUpdate(locked)}`

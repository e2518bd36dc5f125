import type { Resource } from '../../../contract/resource.ts'
import { limits } from '../../../platform/limits.ts'
import { systemTime } from '../../../platform/time.ts'
import { otherCustomers } from '../../merge/conflict-queries.ts'
import type { PutLocks } from '../../merge/put-batch.ts'
import { isTrue, text } from '../../row.ts'
import type { Session } from '../../session.ts'
import { CustomersLocked } from '../../unavailable.ts'
import { dialect } from '../dialect.ts'
import { textArray } from '../driver/connection.ts'
import { isEnded, isLockTimeout } from '../driver/failure.ts'
import { setLocal } from '../driver/sessions.ts'
import { lockCustomers, lockedByOthers } from './lock-import.ts'

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
  const leftMs = Math.floor(deadline - systemTime.elapsedMs()) - limits.lockedPutMs
  if (leftMs < limits.putClaimMs) throw new CustomersLocked()
  const lockMs = Math.min(limits.putCustomerMs, leftMs)
  return setLocal({ lock_timeout: lockMs, statement_timeout: leftMs })
}

const customer = dialect.tableName('customer')

const findCustomers = `select id from ${customer} where id = any($1::text[])`

const lockListed = (locked: 'wait' | 'skip'): string =>
  `${findCustomers} order by number ${dialect.forUpdate(locked)}`

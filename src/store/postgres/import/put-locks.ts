import type { Resource } from '../../../contract/resource.ts'
import { limits } from '../../../platform/limits.ts'
import { systemTime } from '../../../platform/time.ts'
import { losingCustomers } from '../../merge/conflict-queries.ts'
import { holds } from '../../merge/known-records.ts'
import type { PutLocks } from '../../merge/put-batch.ts'
import { text } from '../../row.ts'
import type { Session } from '../../session.ts'
import { CustomersLocked } from '../../unavailable.ts'
import { dialect } from '../dialect.ts'
import { textArray } from '../driver/connection.ts'
import { isEnded, isLockTimeout } from '../driver/failure.ts'
import { setLocal } from '../driver/sessions.ts'
import { type Claimed, claimValues } from './claims.ts'
import { lockImport } from './lock-import.ts'

type TransactionLocks = PutLocks & {
  /** Releases the claimed values, before the commit. */
  release(): Promise<void>
}

/**
 * The locks of a batch of single records, which skips customers that others have locked. A wait
 * for a value ends soon, by the lock timeout of the transaction: a batch that holds customers and
 * does not give up could wait in a circle with an import.
 */
export function openPutLocks(session: Session, resource: Resource): TransactionLocks {
  const withoutRow = new Set<string>()
  const claims = openClaims(session, resource)
  const query = async (statement: string, list: readonly string[]) => {
    const rows = await session.rows({ text: statement, values: [textArray(list)], prepare: true })
    return new Set(rows.map((row) => text(row, 'id')))
  }
  return {
    customers: async (ids) => {
      const locked = await query(lockCustomers('skip'), ids)
      const others = ids.filter((id) => !locked.has(id))
      if (others.length === 0) return new Set()
      const present = await query(findCustomers, others)
      for (const id of others) if (!present.has(id)) withoutRow.add(id)
      return present
    },
    values: async () => {
      await claims.claim('new')
      if (withoutRow.size === 0) return
      // Another merge may have added one before it was claimed here.
      const added = await query(findCustomers, [...withoutRow])
      if (added.size > 0) throw new CustomersLocked()
    },
    losers: async () => {
      if (await holds(session, someLoserIsLocked(resource))) throw new CustomersLocked()
    },
    release: claims.release,
  }
}

/** What a batch has claimed, which is little: it is released by the index. */
function openClaims(session: Session, resource: Resource) {
  let digests: readonly string[] = []
  return {
    claim: async (claimed: Claimed) => {
      const statement = `${claimValues(resource, claimed)} returning digest::text`
      const rows = await session.rows({ text: statement, prepare: true })
      digests = rows.map((row) => text(row, 'digest'))
    },
    release: async () => {
      if (digests.length === 0) return
      await session.rows({ text: releaseClaimed, values: [textArray(digests)], prepare: true })
    },
  }
}

/**
 * The same for a batch that waits for others. It claims and locks like an import, so it may wait
 * for long, and later it finds that it holds everything.
 */
export function openWaitingLocks(
  session: Session,
  resource: Resource,
  deadline: number,
): TransactionLocks {
  const { customers } = openPutLocks(session, resource)
  const claims = openClaims(session, resource)
  const run = (text: string) => session.run(`${waitUntil(deadline)}; ${text}`)
  const claim = async (claimed: Claimed) => {
    await session.run(waitUntil(deadline))
    await claims.claim(claimed)
  }
  return {
    wait: async (ids, takeOver) => {
      await lockImport({ ...session, run }, resource, { takeOver, claim })
      // A record that is withdrawn is not staged yet.
      await session.rows({ text: lockCustomers('wait'), values: [textArray(ids)] })
      await session.run(giveUpSoon)
    },
    customers,
    values: async () => {},
    losers: async () => {},
    release: claims.release,
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

const lockCustomers = (locked: 'wait' | 'skip'): string =>
  `${findCustomers} order by number ${dialect.forUpdate(locked)}`

/** Locks the customers that lose a value, and says whether it has skipped some. */
const someLoserIsLocked = (resource: Resource): string => `
  with losing as materialized (
    select number from ${customer} where number in (${losingCustomers(resource, dialect)})
  ), locked as (
    select number from ${customer} where number in (select number from losing)
    order by number ${dialect.forUpdate('skip')}
  )
  select (select count(*) from locked) < (select count(*) from losing) as holds`

/** By the index, because a scan would pass what is left of large imports. */
const releaseClaimed = `
  delete from ${dialect.tableName('claim')} where digest = any($1::bigint[])`

import type { DatabaseSync } from 'node:sqlite'
import { limitsOf, systemTime } from '@bursar/base'
import { inStatement, NothingChanged, type Session, type Transact } from '@bursar/records'
import { beginWriting, failureOf, isBusy } from './database.ts'
import { sqliteLimits } from './limits.ts'
import { openSession } from './session.ts'

const limits = limitsOf({
  /**
   * The same for a transaction of a server, which is short: it tries more often than an import, so
   * that it gets the lock between two merges. An attempt takes a few microseconds.
   */
  storeQueuedRetryMsMax: 5,
  /** Writes that may wait for one lock: as many as there are requests in progress. */
  storeWritesWaitingMax: 5000,
})

/**
 * Runs the work, and again after growing pauses while another process's lock refuses it. The
 * connection has no busy timeout, so the event loop goes on. Work that is refused has no effect.
 * Throws a StoreUnavailable at the deadline, which is by `Time.elapsedMs`.
 */
export async function retryWhileLocked<T>(
  work: () => T | Promise<T>,
  deadline: number = systemTime.elapsedMs() + sqliteLimits.storeWriteMs,
  reason = LOCKED,
  pauseMsMax: number = sqliteLimits.storeRetryMsMax,
): Promise<T> {
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error)) throw failureOf(error)
      if (systemTime.elapsedMs() >= deadline) throw new NothingChanged(reason, { cause: error })
    }
    await systemTime.pause(pauseMs)
  }
}

const LOCKED = 'another process has locked the database for too long'

/** A connection in this thread or in another one. */
export type Connection = {
  isOpen(): boolean
  /** Runs work in one transaction, as `Transact` does. A refused begin rejects with its error. */
  transact<T>(work: (session: Session) => Promise<T>): Promise<T>
}

/**
 * Queues the transactions of one connection, so that only the first of them asks for a lock. The
 * event loop gets a turn after each. Nothing else may use the connection.
 */
export const openTransactions = (db: DatabaseSync, waitMs?: number): Transact =>
  queueTransactions(connectionHere(db), waitMs)

function connectionHere(db: DatabaseSync): Connection {
  const session = openSession(db)
  return { isOpen: () => db.isOpen, transact: (work) => transact(db, () => work(session)) }
}

export function queueTransactions(connection: Connection, waitMs?: number): Transact {
  const enqueue = openQueue(connection, waitMs)
  return (work, deadline) => enqueue(() => connection.transact(work), deadline)
}

function openQueue({ isOpen }: Connection, waitMs: number = sqliteLimits.storeWriteMs) {
  let previous: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return <T>(run: () => T | Promise<T>, deadline = systemTime.elapsedMs() + waitMs): Promise<T> => {
    if (waiting >= limits.storeWritesWaitingMax) {
      return Promise.reject(new NothingChanged('too many writes wait for the database'))
    }
    waiting += 1
    const attempt = () => {
      if (!isOpen()) throw new NothingChanged('the store was closed while a write waited')
      return run()
    }
    const result = previous.then(() =>
      retryWhileLocked(attempt, deadline, LOCKED, limits.storeQueuedRetryMsMax),
    )
    const turn = () => {
      waiting -= 1
      return new Promise(setImmediate)
    }
    previous = result.then(turn, turn)
    return result
  }
}

/** Runs work in one transaction, which a rejection rolls back. */
export async function transact<T>(db: DatabaseSync, work: () => Promise<T>): Promise<T> {
  using transaction = inStatement('sqlite', 'begin', () => beginWriting(db))
  const result = await work()
  inStatement('sqlite', 'commit', transaction.commit)
  return result
}

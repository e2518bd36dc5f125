import { hash } from 'node:crypto'
import { limitsOf } from '@bursar/base'
import { resources } from '@bursar/contract'
import {
  createPutStaging,
  indexStaged,
  type PutTransactions,
  recordsLimits,
  stagingOfAll,
} from '@bursar/records'
import type { Servers } from '../cluster/servers.ts'
import { transactOn } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import { giveUpSoon, openPutLocks, openWaitingLocks, refusalOf } from './customer-locks.ts'

const limits = limitsOf({
  /**
   * As `recordsPerTurnMax`: on PostgreSQL a commit costs round trips, and the wait for a standby.
   */
  putsPerTurnMax: 32,
  /** Batches of single records that run at a time, of all kinds. */
  putBatchesMax: 3,
  /** The part of the sessions of a pool that batches of single records take at most. */
  putSessionsPart: 0.3,
  /** Bytes of the staging table of single records after which PostgreSQL truncates it. */
  putStagingBytesMax: 4 * 1024 * 1024,
})

/** Transactions of single records. */
export const putTransactions = (servers: Servers): PutTransactions => ({
  dialect,
  // Leaves a batch at least half of the time.
  waitMs: recordsLimits.recordPutMs / 2,
  weightPerKeyMax: limits.putsPerTurnMax,
  runningMax: Math.min(
    limits.putBatchesMax,
    Math.max(1, Math.floor(servers.connectionsMax * limits.putSessionsPart)),
  ),
  transact: (resource, work, { deadline, waits }) =>
    transactOn(servers, `${ensureStaging}; ${giveUpSoon}`)(async (session) => {
      const locks = waits
        ? openWaitingLocks(session, resource, deadline)
        : openPutLocks(session, resource)
      try {
        return await work({ session, locks })
      } catch (error) {
        throw refusalOf(error, waits)
      }
    }, deadline),
})

/** Drops the staging tables that another transaction has left to the session. */
export const dropStaging =
  'drop view if exists pg_temp.staged; drop table if exists pg_temp.staged_line, pg_temp.staged_origin, pg_temp.let_go, pg_temp.rejected'

const created = `
  ${dropStaging};
  ${createPutStaging(stagingOfAll(resources, dialect), dialect)};
  ${indexStaged}`

/**
 * Creates the staging tables if an earlier transaction of the session has not left the same ones:
 * one for every kind, because the catalogue would grow with a table for each batch. The comment
 * tells them from those of an import or of another version. Deleted rows leave their places, which
 * nothing vacuums in a temporary table, so one that has grown is truncated.
 */
const ensureStaging = `
  do $staging$ begin
    if obj_description(to_regclass('pg_temp.staged_line'), 'pg_class') is distinct from '${hash('sha256', created)}' then
      ${created};
      comment on table staged_line is '${hash('sha256', created)}';
    elsif pg_relation_size('pg_temp.staged_line') > ${limits.putStagingBytesMax} then
      truncate staged_line, staged_origin, let_go;
    end if;
  end $staging$`

import { hash } from 'node:crypto'
import type { Resource } from '../../../contract/resource.ts'
import { limits } from '../../../platform/limits.ts'
import { resources } from '../../../resources/catalogue.ts'
import type { PutTransactions } from '../../merge/put-queue.ts'
import { createPutStaging, indexStaged, stagingOfAll } from '../../merge/staging.ts'
import type { Servers } from '../cluster/servers.ts'
import { transactOn } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'

/** Transactions of single records. They hold the lock that an import takes. */
export const putTransactions = (servers: Servers): PutTransactions => ({
  dialect,
  // Leaves a batch at least half of the time.
  waitMs: limits.recordPutMs / 2,
  transact: (resource, work, deadline) =>
    transactOn(servers, `${ensureStaging}; ${lockKind(resource)}`)(work, deadline),
})

/** Readers go on; another import of the kind waits until the transaction ends. */
export const lockKind = ({ table }: Resource): string =>
  `lock table ${dialect.tableName(table)} in share row exclusive mode`

/** Drops the staging tables that another transaction has left to the session. */
export const dropStaging =
  'drop view if exists pg_temp.staged; drop table if exists pg_temp.staged_line, pg_temp.staged_origin, pg_temp.known, pg_temp.rejected'

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
      truncate staged_line, staged_origin;
    end if;
  end $staging$`

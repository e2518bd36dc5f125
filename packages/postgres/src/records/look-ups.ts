import type { BatchName } from '@bursar/base'
import type { Tenant } from '@bursar/contract'
import {
  lastChange,
  openBatchQueue,
  type PendingRequest,
  type ReadBody,
  type Revision,
  readLastChange,
  recordsLimits,
  type Statement,
} from '@bursar/records'
import type { Servers } from '../cluster/servers.ts'
import { type Row, textArray } from '../driver/connection.ts'
import { postgresLimits } from '../limits.ts'
import { aloneIfDamaged } from './page-batch.ts'
import { tenantSetting } from './page-query.ts'

type AskedGet = { readonly tenant: Tenant; readonly id: string; readonly includeDeleted: boolean }

export type GetOne = (asked: AskedGet) => Promise<ReadBody>

/** Reads records from one table by id, several in one statement. */
export const openGetBatch = (servers: Servers, table: string): GetOne =>
  openLookUps<AskedGet, ReadBody>(servers, {
    name: 'gets',
    queryOf: (batch) => getQuery(table, batch),
    read: ([, body, checksum]) => (body ? { body, checksum: Number(checksum) } : undefined),
    absent: undefined,
  })

/** Reads each row while the setting of row-level security names the tenant of that get only. */
export function getQuery(table: string, batch: readonly AskedGet[]): Statement {
  return {
    text: `
      select look_up.at::text, record.body, record.checksum::text
      from unnest($1::text[], $2::uuid[], $3::boolean[]) with ordinality as look_up (customer_id, id, include_deleted, at)
      cross join lateral ${tenantSetting('look_up.customer_id')}
      cross join lateral (
        select body, checksum from bursar.${table}
        where customer = tenant.customer and id = look_up.id
          and (deleted = false or look_up.include_deleted)
        limit 1
      ) as record`,
    values: [
      textArray(batch.map(({ tenant }) => tenant)),
      textArray(batch.map(({ id }) => id)),
      textArray(batch.map(({ includeDeleted }) => (includeDeleted ? 't' : 'f'))),
    ],
    prepare: true,
  }
}

type AskedRevision = { readonly tenant: Tenant; readonly kind: string }

/** Reads revisions, several in one statement. */
export const openRevisionBatch = (
  servers: Servers,
): ((asked: AskedRevision) => Promise<Revision>) =>
  openLookUps<AskedRevision, Revision>(servers, {
    name: 'revisions',
    queryOf: revisionQuery,
    read: ([, last]) => readLastChange(String(last)),
    absent: readLastChange(undefined),
  })

function revisionQuery(batch: readonly AskedRevision[]): Statement {
  return {
    text: `
    select look_up.at::text, revision.last
    from unnest($1::text[], $2::text[]) with ordinality as look_up (customer_id, kind, at)
    cross join lateral ${tenantSetting('look_up.customer_id')}
    cross join lateral (
      select ${lastChange} as last from bursar.revision
      where customer = tenant.customer and kind = look_up.kind
      limit 1
    ) as revision`,
    values: [
      textArray(batch.map(({ tenant }) => tenant)),
      textArray(batch.map(({ kind }) => kind)),
    ],
    prepare: true,
  }
}

type LookUps<Asked, Found> = {
  /** What is looked up, in the plural, for the error messages and the metrics. */
  readonly name: BatchName
  /** Its rows begin with the number of the look-up in the batch, from 1. */
  readonly queryOf: (batch: readonly Asked[]) => Statement
  readonly read: (row: Row) => Found
  /** The result of a look-up without a row. */
  readonly absent: Found
}

/** Looks up single rows, several in one statement. */
function openLookUps<Asked, Found>(
  servers: Servers,
  { name, queryOf, read, absent }: LookUps<Asked, Found>,
): (asked: Asked) => Promise<Found> {
  const readTogether = async (batch: readonly PendingRequest<Asked, Found>[], askedAt: number) => {
    const query = queryOf(batch.map(({ request }) => request))
    // The first look-up has waited longest, so its start time bounds the whole batch.
    const rows = await servers.read((connection) => connection.query(query), { askedAt })
    for (const row of rows) batch[Number(row[0]) - 1]?.result.resolve(read(row))
    for (const { result } of batch) result.resolve(absent)
  }
  return openBatchQueue<Asked, Found>({
    name,
    metrics: servers.metrics,
    run: (batch, askedAt) => aloneIfDamaged(batch, (part) => readTogether(part, askedAt)),
    weightMax: recordsLimits.getsPerStatementMax,
    runningMax: recordsLimits.getStatementsMax,
    startsFullBatches: true,
    waitingMax: recordsLimits.getsWaitingMax,
    waitMs: postgresLimits.databaseWaitMs,
  })
}

import type { Tenant } from '../../../contract/principal.ts'
import { limits } from '../../../platform/limits.ts'
import { openBatchQueue } from '../../sql/batch-queue.ts'
import type { Servers } from '../cluster/servers.ts'
import { type Query, textArray } from '../driver/connection.ts'
import { wallOf } from './row-security.ts'

type AskedGet = { readonly tenant: Tenant; readonly id: string; readonly reveal: boolean }

export type GetOne = (asked: AskedGet) => Promise<string | undefined>

/** Reads records from one table by id, several in one statement. */
export function openGetBatch(servers: Servers, table: string): GetOne {
  return openBatchQueue<AskedGet, string | undefined>({
    name: 'gets',
    run: async (batch, askedAt) => {
      const query = getQuery(
        table,
        batch.map(({ request }) => request),
      )
      // The first has waited longest: its time bounds the whole batch, the wait in it included.
      const rows = await servers.read((connection) => connection.query(query), { askedAt })
      for (const [at, body] of rows) batch[Number(at) - 1]?.result.resolve(body?.toString('utf8'))
      for (const { result } of batch) result.resolve(undefined)
    },
    weightOf: () => 1,
    weightMax: limits.getsPerStatementMax,
    runningMax: limits.getStatementsMax,
    startsFullBatches: true,
    waitingMax: limits.getsWaitingMax,
    waitMs: limits.databaseWaitMs,
  })
}

/** Each row is looked up while the wall's setting names the customer who asked for it, and nobody else. */
export function getQuery(table: string, batch: readonly AskedGet[]): Query {
  return {
    text: `
      select asked.at::text, record.body
      from unnest($1::text[], $2::uuid[], $3::boolean[]) with ordinality as asked (customer_id, id, reveal, at)
      cross join lateral ${wallOf('asked.customer_id')}
      cross join lateral (
        select body from bursar.${table}
        where customer_id = wall.customer_id and id = asked.id and (deleted = false or asked.reveal)
        limit 1
      ) as record`,
    values: [
      textArray(batch.map(({ tenant }) => tenant)),
      textArray(batch.map(({ id }) => id)),
      textArray(batch.map(({ reveal }) => (reveal ? 't' : 'f'))),
    ],
    prepare: true,
  }
}

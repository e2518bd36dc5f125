import type { Tenant } from '../../contract/principal.ts'
import type { Resource } from '../../contract/resource.ts'
import { limits } from '../../platform/limits.ts'
import { fullTable } from '../merge-query.ts'
import { type Query, type Row, textArray } from './connection.ts'
import { openGather } from './gather.ts'
import type { Servers } from './servers.ts'
import { wallOf } from './wall.ts'

type AskedGet = { readonly tenant: Tenant; readonly id: string; readonly reveal: boolean }

export type GetOne = (asked: AskedGet) => Promise<string | undefined>

/** Gets of one kind of record, several in one statement. */
export function openGetBatch(servers: Servers, resource: Resource): GetOne {
  return openGather({
    run: async (batch, askedAt) => {
      const query = getQuery(
        resource,
        batch.map(({ asked }) => asked),
      )
      const settle = (rows: readonly Row[]) => {
        for (const [at, body] of rows) {
          batch[Number(at) - 1]?.answer.resolve(body?.toString('utf8'))
        }
        for (const { answer } of batch) answer.resolve(undefined)
      }
      // The first has waited longest; whoever asks waits no longer than for a page, gathering included.
      await servers.read((connection) => connection.read(query, settle), { askedAt })
    },
    rowsOf: () => 1,
    rowsMax: limits.getsPerStatementMax,
    statementsMax: limits.getStatementsMax,
    waitingMax: limits.getsWaitingMax,
  })
}

/** Each row is looked up while the wall's setting names the customer who asked for it, and nobody else. */
export function getQuery(resource: Resource, batch: readonly AskedGet[]): Query {
  return {
    text: `
      select asked.at::text, record.body
      from unnest($1::text[], $2::uuid[], $3::boolean[]) with ordinality as asked (customer_id, id, reveal, at)
      cross join lateral ${wallOf('asked.customer_id')}
      cross join lateral (
        select body from bursar.${fullTable(resource)}
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

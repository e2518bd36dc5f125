import type { Tenant } from '../../../contract/principal.ts'
import { limits } from '../../../platform/limits.ts'
import { openBatchQueue } from '../../sql/batch-queue.ts'
import type { Servers } from '../cluster/servers.ts'
import { type Query, textArray } from '../driver/connection.ts'
import { tenantSetting } from './row-security.ts'

type AskedRevision = { readonly tenant: Tenant; readonly kind: string }

/** Reads revisions, several in one statement, as records are read by id. */
export function openRevisionBatch(servers: Servers): (asked: AskedRevision) => Promise<number> {
  return openBatchQueue<AskedRevision, number>({
    name: 'revisions',
    run: async (batch, askedAt) => {
      const query = revisionQuery(batch.map(({ request }) => request))
      const rows = await servers.read((connection) => connection.query(query), { askedAt })
      for (const [at, revision] of rows) batch[Number(at) - 1]?.result.resolve(Number(revision))
      for (const { result } of batch) result.resolve(0)
    },
    weightMax: limits.getsPerStatementMax,
    runningMax: limits.getStatementsMax,
    startsFullBatches: true,
    waitingMax: limits.getsWaitingMax,
    waitMs: limits.databaseWaitMs,
  })
}

const revisionQuery = (batch: readonly AskedRevision[]): Query => ({
  text: `
    select look_up.at::text, revision.changed_at::text
    from unnest($1::text[], $2::text[]) with ordinality as look_up (customer_id, kind, at)
    cross join lateral ${tenantSetting('look_up.customer_id')}
    cross join lateral (
      select changed_at from bursar.revision
      where customer_id = tenant.customer_id and kind = look_up.kind
      limit 1
    ) as revision`,
  values: [textArray(batch.map(({ tenant }) => tenant)), textArray(batch.map(({ kind }) => kind))],
  prepare: true,
})

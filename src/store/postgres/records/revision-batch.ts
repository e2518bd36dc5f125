import type { Tenant } from '../../../contract/principal.ts'
import type { Statement } from '../../session.ts'
import type { Servers } from '../cluster/servers.ts'
import { whole } from '../driver/cells.ts'
import { textArray } from '../driver/connection.ts'
import { openLookUps } from './look-up-batch.ts'
import { tenantSetting } from './row-security.ts'

type AskedRevision = { readonly tenant: Tenant; readonly kind: string }

/** Reads revisions, several in one statement. */
export const openRevisionBatch = (servers: Servers): ((asked: AskedRevision) => Promise<bigint>) =>
  openLookUps<AskedRevision, bigint>(servers, {
    name: 'revisions',
    queryOf: revisionQuery,
    read: (row) => whole(row, 1),
    absent: 0n,
  })

function revisionQuery(batch: readonly AskedRevision[]): Statement {
  return {
    text: `
    select look_up.at::text, revision.changed_at::text
    from unnest($1::text[], $2::text[]) with ordinality as look_up (customer_id, kind, at)
    cross join lateral ${tenantSetting('look_up.customer_id')}
    cross join lateral (
      select changed_at from bursar.revision
      where customer_id = tenant.customer_id and kind = look_up.kind
      limit 1
    ) as revision`,
    values: [
      textArray(batch.map(({ tenant }) => tenant)),
      textArray(batch.map(({ kind }) => kind)),
    ],
    prepare: true,
  }
}

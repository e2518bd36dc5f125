import type { Tenant } from '../../../contract/principal.ts'
import type { ReadBody } from '../../integrity/intact-records.ts'
import type { Statement } from '../../session.ts'
import type { Servers } from '../cluster/servers.ts'
import { textArray } from '../driver/connection.ts'
import { openLookUps } from './look-up-batch.ts'
import { tenantSetting } from './row-security.ts'

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
        where customer_id = tenant.customer_id and id = look_up.id
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

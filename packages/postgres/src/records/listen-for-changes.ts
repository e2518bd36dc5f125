import { baseLimits, limitsOf } from '@bursar/base'
import type { Tenant } from '@bursar/contract'
import { type ChangeSource, text, whole } from '@bursar/records'
import { listen } from '../cluster/listen.ts'
import { ANY_CUSTOMER, CHANGES, changeName } from '../cluster/notify.ts'
import type { Servers } from '../cluster/servers.ts'
import { textArray } from '../driver/connection.ts'
import { tenantSetting } from './page-query.ts'

const limits = limitsOf({
  /** How often PostgreSQL is asked for changes where a pooler forbids LISTEN. */
  databaseChangesLookMs: 1000,
})

/**
 * Hears of changes over a session that listens. A pooler that gives each transaction another
 * session forbids that. Then one query a second counts the versions of all customers that are
 * waited for.
 */
export function changesOf(servers: Servers): ChangeSource {
  const count = (tenants: readonly Tenant[]) => countChanges(servers, tenants)
  if (servers.pooler === 'transaction') {
    const everyMs = limits.databaseChangesLookMs
    return { count, everyMs, looks: { mayHaveChanged: () => true } }
  }
  return {
    count,
    everyMs: baseLimits.readersLookMs,
    nameOf: changeName,
    listen: (changed) =>
      listen(servers, CHANGES, (payload) => {
        const isAny = payload === undefined || payload === ANY_CUSTOMER
        changed(isAny ? undefined : payload.split(' '))
      }),
  }
}

/** Reads each row while the setting of row-level security names its customer. */
async function countChanges(
  servers: Servers,
  tenants: readonly Tenant[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await servers.rows({
    text: `
      select request.customer_id, owner.changes
      from unnest($1::text[]) as request (customer_id)
      cross join lateral ${tenantSetting('request.customer_id')}
      cross join lateral (
        select changes from bursar.customer where number = tenant.customer limit 1
      ) as owner`,
    values: [textArray(tenants)],
    prepare: true,
  })
  return new Map(rows.map((row) => [text(row, 'customer_id'), whole(row, 'changes')]))
}

import type { Tenant } from '@bursar/contract'
import { isTrue, optionalWhole, type Reads, type Shown, type Statement } from '@bursar/records'
import { ReplicaBehind, type Servers } from '../cluster/servers.ts'
import { readTogether } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import type { Connection } from '../driver/connection.ts'

/** Reads of one tenant, each in a transaction whose settings name it for row-level security. */
export function tenantReads(servers: Servers, tenant: Tenant, must?: Shown | 'fresh'): Reads {
  const shown = must === 'fresh' ? undefined : must
  const read = (statement: Statement) => async (connection: Connection) => {
    const named = [nameId(tenant), nameNumber(tenant, shown?.kind)]
    const [, [state = {}] = [], found = []] = await readTogether(connection, [...named, statement])
    if (shown !== undefined && isBehind(state, shown)) throw new ReplicaBehind()
    return found
  }
  return {
    rows: (statement) =>
      must === 'fresh' ? servers.onPrimary(read(statement)) : servers.read(read(statement)),
  }
}

/** A replica that has replayed a later change of the kind has the past before it. */
const isBehind = (state: Readonly<Record<string, unknown>>, { until }: Shown): boolean =>
  isTrue(state.is_replica) && (optionalWhole(state, 'changed_at') ?? 0n) < until

const nameId = (tenant: Tenant): Statement => ({
  text: `select set_config('bursar.customer_id', $1::text, true)`,
  values: [tenant],
  prepare: true,
})

/** The policy of table `customer` shows the one that `nameId` has named, and no other. */
const nameNumber = (tenant: Tenant, kind = ''): Statement => ({
  text: `
    select ${dialect.isReplica} as is_replica, (
      select changed_at from bursar.revision
      where customer = named.number::integer and kind = $2::text
    ) as changed_at
    from (
      select set_config('bursar.customer',
        coalesce((select number::text from bursar.customer where id = $1::text), ''), true) as is_set,
        (select number from bursar.customer where id = $1::text) as number offset 0
    ) as named
    where named.is_set is not null`,
  values: [tenant, kind],
  prepare: true,
})

import type { Clock } from '../../../platform/clock.ts'
import { type StoredRows, storedRows } from '../../integrity/stored-rows.ts'
import { openSeals, type Sealing } from '../../sealing/seals.ts'
import type { Statement } from '../../session.ts'
import { transact } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import type { Connection } from '../driver/connection.ts'
import { guarded } from '../driver/failure.ts'
import { openTurns } from '../driver/turns.ts'
import { seeEveryRow } from './grants.ts'
import { requireSchema } from './migrate.ts'

/** The triggers of the schema. Without one, or with another, a write may not do what it reports. */
const triggers = [
  ['bursar.client', 'stamped'],
  ['bursar.credential_revision', 'counts_up'],
  ['bursar.denied_token', 'stamped'],
  ['bursar.fee_quote', 'kept'],
  ['bursar.lineage', 'is_current'],
  ['bursar.purpose_key', 'stamped'],
  ['bursar_audit.line', 'seen'],
] as const

/**
 * What a failed index build, a restore or a hand-made change can leave behind. Tables of records
 * have the policy `customer`, and theirs must be forced.
 */
const faultQuery = `
  select 'the index ' || relation.oid::regclass || ' is not valid; run reindex'
  from pg_index join pg_class as relation on relation.oid = indexrelid
  where relation.relnamespace = 'bursar'::regnamespace and not (indisvalid and indisready)
  union all
  select 'the constraint ' || conname || ' of ' || conrelid::regclass || ' is not validated'
  from pg_constraint where connamespace = 'bursar'::regnamespace and not convalidated
  union all
  select 'row-level security of ' || oid::regclass || ' is not forced'
  from pg_class
  where relnamespace = 'bursar'::regnamespace and not (relrowsecurity and relforcerowsecurity)
    and exists (select 1 from pg_policy where polrelid = pg_class.oid and polname = 'customer')
  union all
  select 'the ' || coalesce('trigger ' || found.name || ' of ' || found.place
      || case when wanted.name is null then ' is not one of this program' else ' is disabled' end,
    'trigger ' || wanted.name || ' of ' || wanted.place || ' is missing')
  from (values ${triggers.map((trigger) => `('${trigger.join("', '")}')`).join(', ')})
    as wanted (place, name)
  full join (
    select nspname || '.' || relname as place, tgname as name, tgenabled from pg_trigger
    join pg_class on pg_class.oid = tgrelid join pg_namespace on pg_namespace.oid = relnamespace
    where nspname in ('bursar', 'bursar_audit') and not tgisinternal) as found
    on found.place = wanted.place and found.name = wanted.name
  where wanted.name is null or found.name is null or found.tgenabled not in ('O', 'A')
  union all
  select 'the rule ' || rulename || ' of ' || schemaname || '.' || tablename || ' is not one of this program'
  from pg_rules where schemaname in ('bursar', 'bursar_audit')
  order by 1`

/** The faults of the schema. Its owner and the operator may run this. */
export async function schemaFaults(connection: Connection): Promise<readonly string[]> {
  await requireSchema(connection)
  const rows = await connection.query({ text: faultQuery })
  return rows.map(([fault]) => String(fault))
}

/** The stored records of every customer, for the owner. Locks nothing. */
export function ownerRows(connection: Connection, sealing: Sealing, clock: Clock): StoredRows {
  const inTurn = openTurns()
  const rows = (query: Statement) =>
    inTurn(() => guarded(() => transact(connection, () => connection.rows(query), seeEveryRow)))
  const refused = () => Promise.reject(new Error('the owner stores no keys'))
  const ofTenant = () => ({ rows })
  const seals = openSeals({ ...sealing, dialect, clock, ofTenant, transact: refused })
  return storedRows({ rows }, dialect, seals)
}

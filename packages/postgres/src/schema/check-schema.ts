import { type Clock, commandHint } from '@bursar/base'
import { openSeals, type Reads, type Sealing, type StoredRows, storedRows } from '@bursar/records'
import { transact } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import type { Connection } from '../driver/connection.ts'
import { guarded } from '../driver/failure.ts'
import { openTurns } from '../driver/turns.ts'
import { seeEveryRow } from './grants.ts'
import { describeDifference, keptDifferences } from './made-objects.ts'
import { requireSchema } from './migrate.ts'

/** What a failed index build or a restore can leave behind. */
const faultQuery = `
  select 'the index ' || relation.oid::regclass || ' is not valid; run reindex'
  from pg_index join pg_class as relation on relation.oid = indexrelid
  where relation.relnamespace = 'bursar'::regnamespace and not (indisvalid and indisready)
  union all
  select 'the constraint ' || conname || ' of ' || conrelid::regclass || ' is not validated'
  from pg_constraint where connamespace = 'bursar'::regnamespace and not convalidated
  order by 1`

/** The faults of the schema. Every role may run this. */
export async function schemaFaults(connection: Connection): Promise<readonly string[]> {
  await requireSchema(connection)
  const rows = await connection.query({ text: faultQuery })
  const differ = await transact(connection, () => keptDifferences(connection))
  return [
    ...rows.map(([fault]) => String(fault)),
    ...(differ?.map(describeDifference) ?? [
      `the objects of the schema were made by another version of PostgreSQL, or in another database; run ${commandHint('migrate')}, which compares them with new ones`,
    ]),
  ]
}

/** Reads the rows of every customer, as the owner. Locks nothing. */
function ownerReads(connection: Connection): Reads {
  const inTurn = openTurns()
  return {
    rows: (query) =>
      inTurn(() => guarded(() => transact(connection, () => connection.rows(query), seeEveryRow))),
  }
}

/** The stored records of every customer, for the owner. */
export function ownerRows(connection: Connection, sealing: Sealing, clock: Clock): StoredRows {
  const { rows } = ownerReads(connection)
  const refused = () => Promise.reject(new Error('the owner stores no keys'))
  const ofTenant = () => ({ rows })
  const seals = openSeals({ ...sealing, dialect, clock, ofTenant, transact: refused })
  return storedRows({ rows }, dialect, seals)
}

import type { Resource } from '../../contract/resource.ts'
import type { Dialect } from '../dialect.ts'
import { readSourceRow, rowsOfIdsQuery } from '../integrity/stored-rows.ts'
import type { RecordLoad } from '../records/import.ts'
import { isTrue, optionalText } from '../row.ts'
import type { Reads } from '../session.ts'
import { repeatedId } from './conflict-queries.ts'
import type { MergeStatements } from './merge-statements.ts'

type KnownRecords = Pick<RecordLoad, 'isFirst' | 'stored'> & {
  /** Whether a known record was changed since. In the transaction of the merge. */
  areChanged(session: Reads): Promise<boolean>
}

/** Looks records up while an import is read, so that it need not stage those that are stored. */
export async function openKnownRecords(
  reader: Reads,
  resource: Resource,
  dialect: Dialect,
): Promise<KnownRecords> {
  const find = rowsOfIdsQuery(resource, dialect)
  const begunAt = await lastChangeOf(reader, resource, dialect)
  return {
    isFirst: begunAt === undefined,
    stored: async (ids) => {
      const rows = await reader.rows({ text: find, values: [dialect.list(ids)], prepare: true })
      return rows.map((row) => readSourceRow(resource, row))
    },
    areChanged: async (session) => {
      if ((await lastChangeOf(session, resource, dialect)) === begunAt) return false
      return await holds(session, changedKnown(resource, dialect))
    },
  }
}

/**
 * A text that every change of a record of the kind changes. The times of one customer only rise;
 * the sum of all has two parts, because it would not fit into a whole number.
 */
async function lastChangeOf({ rows }: Reads, { kind }: Resource, { tableName }: Dialect) {
  const [row = {}] = await rows({
    text: `select sum(changed_at / 1000000) || ' ' || sum(changed_at % 1000000) as changed_at
      from ${tableName('revision')} where kind = '${kind}'`,
  })
  return optionalText(row, 'changed_at')
}

/** Whether a query with one row, and one column of this name, says so. */
export async function holds({ rows }: Reads, text: string): Promise<boolean> {
  const [row] = await rows({ text })
  return isTrue(row?.holds)
}

const changedKnown = ({ table }: Resource, { tableName, listedId }: Dialect): string => `
  select count(*) > 0 as holds from known left join ${tableName(table)} as stored
    on ${listedId.is('stored', 'known.id')} and stored.stored_at >= 0 and stored.id_taken = false
  where stored.source_digest is null or stored.source_digest <> known.digest`

/**
 * A staged record that has the id of a known line, and other content than is stored. The later line
 * is at fault. An import that rejects records rejects the staged one, because it has no known ones.
 */
export function repeatsKnown({ unchanged }: MergeStatements, isRejecting: boolean): string {
  const isLater = isRejecting ? 'true' : 'staged.line > known.line'
  const lineOf = (later: string, earlier: string) =>
    `case when ${isLater} then ${later}.line else ${earlier}.line end`
  return `
  ${repeatedId(lineOf('staged', 'known'), lineOf('known', 'staged'))}
  from staged join known on known.id = staged.id
  where staged.sequence not in (select staged.sequence from ${unchanged})`
}

export const CHANGED_MEANWHILE = {
  line: 0,
  member: 'file',
  code: 'changed_meanwhile',
  reason: 'has records that another writer changed while it was read; import it again',
} as const

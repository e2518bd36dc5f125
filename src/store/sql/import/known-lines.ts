import type { Resource } from '../../../contract/resource.ts'
import type { MergeStatements } from '../merge-statements.ts'

/** Lines that were not staged, because their records are stored as they are. */
export const createKnown = (idType: string): string =>
  `create temporary table known (file integer, line bigint, id ${idType}, digest bigint)`

export const knownColumns = ['file', 'line', 'id', 'digest'] as const

export const indexKnown = 'create index known_by_id on known (id)'

/**
 * A text that every change of a record of the kind changes. The times of one customer only rise;
 * the sum of all is told in two parts, because it would not fit into a whole number.
 */
export const lastChangeOf = ({ kind }: Resource, tableName: (table: string) => string): string =>
  `select sum(changed_at / 1000000) || ' ' || sum(changed_at % 1000000) as changed_at
   from ${tableName('revision')} where kind = '${kind}'`

/** How many known lines each file has. */
export const knownByFile = 'select file, count(*) as records from known group by file'

/** How many of their records were changed since. */
export const changedKnown = ({ table }: Resource, tableName: (table: string) => string): string => `
  select count(*) as records from known left join ${tableName(table)} as stored
    on stored.id = known.id and stored.stored_at >= 0 and stored.id_taken = false
  where stored.source_digest is null or stored.source_digest <> known.digest`

/** A staged record that has the id of a known line, and other content than is stored. */
export const repeatsKnown = ({ unchanged }: Pick<MergeStatements, 'unchanged'>): string => `
  select case when staged.line > known.line then staged.line else known.line end as line,
    'id' as member, 'repeated' as code,
    'stands in {line ' || case when staged.line > known.line then known.line else staged.line end
      || '} too, with other content' as reason
  from staged join known on known.id = staged.id
  where staged.sequence not in (select staged.sequence from ${unchanged})`

export const CHANGED_MEANWHILE = {
  line: 0,
  member: 'file',
  code: 'changed_meanwhile',
  reason: 'has records that another writer changed while it was read; import it again',
} as const

import { fullTable, type Resource } from '../../contract/resource.ts'
import { memberColumns } from './staging.ts'

/** What the two stores spell differently in the statements of a merge. */
export type MergeDialect = {
  /** The name of a stored table, with its schema where there is one. */
  readonly tableName: (table: string) => string
  /** Names the index of a join for a planner that would not find it by itself. */
  readonly indexedBy: (index: string) => string
  /** The parameter that holds the time of the merge. */
  readonly now: string
}

/** Merges `staged` into the stored records, after `conflictQueries` has found nothing. */
export type MergeStatements = {
  /** Whether a staged record replaces a stored one. If none does, only `insert` need run. */
  readonly hasReplaced: string
  /** Copies stored deletions to staged records that mention none. Not for kinds without them. */
  readonly keepDeletions: string | undefined
  readonly dropUnchanged: string
  /** How many staged records of each file replace a stored one. */
  readonly countReplaced: string
  /** Moves what will be replaced to `superseded`; `insert` deletes the unmasked records. */
  readonly supersede: readonly string[]
  readonly insert: readonly string[]
}

export function mergeStatements(resource: Resource, dialect: MergeDialect): MergeStatements {
  const { replaced, replacedInFull, unchanged, storedBody, storedChecksum } = rowSets(
    resource,
    dialect,
  )
  const { tableName, now } = dialect
  const table = tableName(resource.table)
  const full = tableName(fullTable(resource))
  const hasMask = resource.mask !== undefined
  return {
    hasReplaced: `select exists (select 1 from ${replaced}) as has_replaced`,
    keepDeletions: resource.deletable ? keepDeletions(table) : undefined,
    dropUnchanged: `
      delete from staged where sequence in (select staged.sequence from ${unchanged})`,
    countReplaced: `
      select staged.file, count(*) as records from ${replaced} group by staged.file`,
    supersede: [
      `insert into ${tableName('superseded')}
       select '${resource.kind}', stored.customer_id, stored.id, stored.stored_at, ${now},
         ${storedBody}, stored.deleted_at, stored.source_version, ${storedChecksum}
       from ${replacedInFull}`,
      `delete from ${table} where (customer_id, deleted, position) in (
         select stored.customer_id, stored.deleted, stored.position from ${replaced})`,
    ],
    insert: [
      insertRecords(resource, dialect),
      `insert into ${tableName('revision')} as stored
       select distinct customer_id, '${resource.kind}', ${now} from staged where true
       on conflict (customer_id, kind) do update set changed_at = case
         when excluded.changed_at > stored.changed_at then excluded.changed_at
         else stored.changed_at + 1 end`,
      ...(hasMask
        ? [
            // An unmasked record whose masked one was lost replaces nothing, but has the same key.
            `delete from ${full} where (customer_id, id) in (select customer_id, id from staged)`,
            `insert into ${full} (customer_id, id, deleted, body, checksum)
             select customer_id, id, deleted_at is not null, full_body, full_checksum from staged
             order by customer_id, id`,
          ]
        : []),
    ],
  }
}

/**
 * The row sets of a merge, each as what follows `from`. On PostgreSQL only statements with
 * `stored_at >= 0` can use the index of ids (postgres/schema/record-dialect.ts).
 */
function rowSets(resource: Resource, { tableName, indexedBy }: MergeDialect) {
  const stored = `${tableName(resource.table)} as stored ${indexedBy(`${resource.table}_identity`)}`
  const sameId = 'stored.id = staged.id and stored.stored_at >= 0'
  const replaced = `staged cross join ${stored} where ${sameId}`
  const hasMask = resource.mask !== undefined
  const replacedInFull = !hasMask
    ? replaced
    : `staged cross join ${stored} cross join ${tableName(fullTable(resource))} as stored_full
       where ${sameId}
         and stored_full.customer_id = stored.customer_id and stored_full.id = stored.id`
  const storedBody = hasMask ? 'stored_full.body' : 'stored.body'
  const storedChecksum = hasMask ? 'stored_full.checksum' : 'stored.checksum'
  // Also compares what follows from the body, so that importing a damaged record again mends it.
  const derived = [
    ...memberColumns(resource).map((column) => [`stored.${column}`, `staged.${column}`]),
    [storedChecksum, 'staged.full_checksum'],
    ...(hasMask
      ? [
          ['stored.body', 'staged.masked'],
          ['stored.checksum', 'staged.masked_checksum'],
          ['stored_full.deleted', 'stored.deleted'],
        ]
      : []),
  ]
  const unchanged = `${replacedInFull}
         and ${storedBody} = staged.full_body
         and stored.deleted_at is not distinct from staged.deleted_at
         and stored.updated_at is not distinct from staged.updated_at
         and stored.source_version is not distinct from staged.source_version
         ${derived.map(([is, derives]) => `and ${is} is not distinct from ${derives}`).join(' ')}`
  return { replaced, replacedInFull, unchanged, storedBody, storedChecksum }
}

const keepDeletions = (table: string): string => `
      update staged set deleted_at = (
        select stored.deleted_at from ${table} as stored
        where stored.id = staged.id and stored.stored_at >= 0)
      where keeps_deletion = 1 and exists (
        select 1 from ${table} as stored
        where stored.id = staged.id and stored.stored_at >= 0 and stored.deleted = true)`

/** Inserts in the order of the primary key, which fills the table's pages one after the other. */
function insertRecords(resource: Resource, { tableName, now }: MergeDialect): string {
  const members = memberColumns(resource).join(', ')
  const [body, checksum] =
    resource.mask === undefined ? ['full_body', 'full_checksum'] : ['masked', 'masked_checksum']
  return `insert into ${tableName(resource.table)} (
         customer_id, deleted, position, id, ${members}, body,
         deleted_at, updated_at, source_version, stored_at, checksum)
       select customer_id, deleted_at is not null, position, id, ${members}, ${body},
         deleted_at, updated_at, source_version, ${now}, ${checksum}
       from staged
       order by customer_id, deleted_at is not null, position`
}
